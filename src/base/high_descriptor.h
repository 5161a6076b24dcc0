// A descriptor out of the way of the program in whose process it is. The low numbers are the program's: it takes the
// lowest free one for each file that it opens, and shells and daemons close or overwrite what is low (`exec 3>out`).
#pragma once

namespace contrafact::base {

// The same file under a number in the highest quarter of those that the process may have, or of the first 4096 if it
// may have more: the kernel copies a table up to the highest number with each fork. `descriptor` is closed then. Where
// nothing is free up there, and of a failed open (below 0), it is returned as it is. Closed at exec.
int moved_high(int descriptor);

}  // namespace contrafact::base
