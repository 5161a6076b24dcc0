// Sleeps.
#include "agent_native/blocking.h"
#include "agent_native/real.h"

using namespace contrafact::agent_native;

CONTRAFACT_INTERPOSE(unsigned, sleep, (unsigned seconds)) {
  CONTRAFACT_CALLED;
  return block(BlockReason::sleep, CONTRAFACT_SITE, [&] { return real().sleep(seconds); });
}
CONTRAFACT_INTERPOSE(int, usleep, (useconds_t us)) {
  CONTRAFACT_CALLED;
  return block(BlockReason::sleep, CONTRAFACT_SITE, [&] { return real().usleep(us); });
}
CONTRAFACT_INTERPOSE(int, nanosleep, (const timespec* time, timespec* left)) {
  CONTRAFACT_CALLED;
  called_.reads(time, sizeof *time);
  called_.wrote(left, left ? sizeof *left : 0);
  return block(BlockReason::sleep, CONTRAFACT_SITE, [&] { return real().nanosleep(time, left); });
}
CONTRAFACT_INTERPOSE(int, clock_nanosleep, (clock_id clock, int flags, const timespec* time, timespec* left)) {
  CONTRAFACT_CALLED;
  called_.reads(time, sizeof *time);
  called_.wrote(left, left ? sizeof *left : 0);
  return block(BlockReason::sleep, CONTRAFACT_SITE, [&] { return real().clock_nanosleep(clock, flags, time, left); });
}
CONTRAFACT_INTERPOSE(int, thrd_sleep, (const timespec* time, timespec* left)) {
  CONTRAFACT_CALLED;
  called_.reads(time, sizeof *time);
  called_.wrote(left, left ? sizeof *left : 0);
  return block(BlockReason::sleep, CONTRAFACT_SITE, [&] { return real().thrd_sleep(time, left); });
}
