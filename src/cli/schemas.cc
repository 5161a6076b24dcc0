#include "cli/schemas.h"

#include "blueprint/views.h"
#include "cli/advice_tables.h"
#include "cli/endpoint_tables.h"
#include "cli/flow_tables.h"
#include "cli/granularity_tables.h"
#include "cli/load_tables.h"
#include "cli/locks.h"
#include "cli/metric_tables.h"
#include "cli/replay_conflicts.h"
#include "cli/replay_rows.h"
#include "cli/service_report.h"
#include "cli/ulc_tables.h"
#include "contexts/views.h"
#include "export/trace_csv.h"

namespace contrafact::cli {

const std::vector<const table::Schema*>& all_schemas() {
  static const std::vector<const table::Schema*> list{&kImprovementsSchema,
                                                      &kEffectSchema,
                                                      &kLeftOutSchema,
                                                      &kCompareTwoSchema,
                                                      &kCompareThreeSchema,
                                                      &kMetricsSchema,
                                                      &kHeadroomSchema,
                                                      &kTaskClassesSchema,
                                                      &kGranularitySchema,
                                                      &kGranularityActivitySchema,
                                                      &kGranularityIdleSchema,
                                                      &kGranularityOutliersSchema,
                                                      &kLoadSchema,
                                                      &kEndpointsSchema,
                                                      &kEndpointCurvesSchema,
                                                      &kServiceChangesSchema,
                                                      &kUsageSeriesSchema,
                                                      &kInfoRunSchema,
                                                      &kInfoEventsSchema,
                                                      &kInfoPoolsSchema,
                                                      &kInfoThreadsSchema,
                                                      &kLocksSchema,
                                                      &kLockSitesSchema,
                                                      &kLockWaitsSchema,
                                                      &kUlcSitesSchema,
                                                      &kUlcPairsSchema,
                                                      &kUlcConflictsSchema,
                                                      &kLockRemediesSchema,
                                                      &kFlowOrdersSchema,
                                                      &kFlowLocksSchema,
                                                      &kFlowSitesSchema,
                                                      &kFlowEdgesSchema,
                                                      &kReplaySchema,
                                                      &kReplayPartsSchema,
                                                      &kReplaySitesSchema,
                                                      &kDoctorSchema,
                                                      &exporters::kTaskListSchema,
                                                      &exporters::kEventsSchema,
                                                      &blueprint::kNodesSchema,
                                                      &blueprint::kEdgesSchema,
                                                      &contexts::kTreeSchema,
                                                      &contexts::kContextsSchema};
  return list;
}

}  // namespace contrafact::cli
