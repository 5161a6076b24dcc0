// Tasks of executors that no row of a table names: any method `void execute(Runnable)` of an Executor hands one over,
// and any call of Runnable.run may be where it begins. A program's own pool need not be an Executor: an object whose
// class starts threads, and puts a Runnable that a method gets into a collection, is one. The JDK's own classes have
// rows of their own (probes_*.cc).
//
// Not thread-safe: for one class, while it is edited.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "agent_jvm/edits.h"

namespace contrafact::agent_jvm {

class HandOvers {
 public:
  // Whether a class may contain any of these edits' places, by its bytes alone. False for most classes and all of the
  // JDK's.
  static bool may_be_in(std::string_view class_name, std::span<const uint8_t> bytes);

  explicit HandOvers(const classfile::ClassFile& file);

  // The class is an executor and gets a field for its pool's number.
  bool needs_pool_field() const { return has_submission_ || has_own_submission_; }
  // Whether `method` has anything to edit.
  bool concerns(const classfile::Member& method) const;
  // REQUIRES: no row of a table edits this method
  base::Status edit(Edit& edit) const;

 private:
  static bool starts_threads(const classfile::ClassFile& file);
  bool is_submission(const classfile::Member& method) const;
  bool is_own_submission(const classfile::Member& method) const;
  bool calls_run(const classfile::Member& method) const;

  bool has_submission_ = false;
  bool makes_threads_ = false;
  bool has_own_submission_ = false;
  std::vector<uint16_t> run_refs_;  // constants: the method Runnable.run, by any of the interfaces that have it
};

// How a task is handed over, as bits: ContrafactExecutors.java.
enum HandOver : int { kByRow = 1, kInPlace = 2, kBeginsByItself = 4, kByOwnPool = 8 };

// The method hands over its parameter `index` (0: the first).
base::Status hand_over(Edit& edit, size_t index, int how);

// Around each call of Runnable.run: `owner.start(Runnable)` yields what ContrafactProbes.bareEnd takes. In place: no
// frame of ours in the program's stack traces.
base::Status wrap_runs(Edit& edit, std::string_view owner, std::string_view start);

}  // namespace contrafact::agent_jvm
