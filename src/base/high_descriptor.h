// A descriptor out of the way of the program in whose process it is. The low numbers are the program's: it takes the
// lowest free one for each file that it opens, and shells and daemons close or overwrite what is low (`exec 3>out`).
#pragma once

namespace contrafact::base {

// The same file under a number in the highest quarter of those that the process may have, or of the first 4096 if it
// may have more: the kernel copies a table up to the highest number with each fork. `descriptor` is then closed, and
// the new one is closed at exec. `descriptor` is returned as it is if no number up there is free, or if it is a failed
// open (below 0).
int moved_high(int descriptor);

}  // namespace contrafact::base
