#include <fmt/format.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "base/check.h"
#include "report/granularity_picture.h"
#include "report/load_picture.h"
#include "report/page_parts.h"
#include "report/profile.h"
#include "table/markup.h"
#include "table/render.h"
#include "table/value_text.h"

namespace contrafact::report {

// Of src/report/CMakeLists.txt: the files of web/ and Debian's dygraphs.
extern const std::string_view profile_html, profile_css, profile_js, dygraph_css, dygraph_js, picture_html;

namespace {

using Json = nlohmann::ordered_json;

// About one point for each pixel of a large screen.
constexpr size_t kPageBins = 1500;

Json rounded(const std::vector<double>& values) {
  Json out = Json::array();
  for (double v : values) out.push_back(std::round(v * 1000) / 1000);
  return out;
}

Json run_values(const RunProfile& run, int64_t span_ns) {
  Series series = resample(run, span_ns, kPageBins);
  std::vector<double> occupied(series.active.size());
  for (size_t i = 0; i < occupied.size(); ++i) occupied[i] = series.active[i] + series.waiting[i];
  return {{"active", rounded(series.active)},
          {"waiting", rounded(series.waiting)},
          {"unoccupied", rounded(series.unoccupied)},
          {"occupied", rounded(occupied)}};
}

std::string page_data(const std::vector<RunProfile>& runs) {
  int64_t longest_ns = 1;
  Json about = Json::array(), absolute_runs = Json::array(), normalised_runs = Json::array();
  for (const RunProfile& run : runs) longest_ns = std::max(longest_ns, run.duration_ns);
  for (const RunProfile& run : runs) {
    about.push_back(
        {{"name", run.name}, {"origin", run.origin}, {"source", run.source}, {"duration_ns", run.duration_ns}});
    absolute_runs.push_back(run_values(run, longest_ns));
    normalised_runs.push_back(run_values(run, run.duration_ns));
  }
  Json seconds = Json::array(), percents = Json::array();
  for (size_t i = 0; i < kPageBins; ++i) {
    double share = static_cast<double>(i) / static_cast<double>(kPageBins);
    seconds.push_back(share * static_cast<double>(longest_ns) / 1e9);
    percents.push_back(share * 100);
  }
  Json data{{"runs", about},
            {"absolute", {{"x", seconds}, {"runs", absolute_runs}}},
            {"normalised", {{"x", percents}, {"runs", normalised_runs}}}};
  std::string text = data.dump(-1, ' ', false, Json::error_handler_t::replace);
  // Inside a script element only "</" and "<!" could end or change it.
  std::string safe;
  for (char c : text) safe += c == '<' ? std::string("\\u003c") : std::string(1, c);
  return safe;
}

}  // namespace

std::string table_html(const PageTable& one) {
  const table::Schema& schema = one.table->schema();
  std::string out = fmt::format("<section>\n<h2>{}</h2>\n<p class=\"explain\">{}</p>\n",
                                table::escape_markup(one.heading), table::escape_markup(schema.description));
  if (one.table->empty()) {
    out += fmt::format("<p>Nothing to show: {}</p>\n", table::escape_markup(one.table->empty_reason()));
  } else {
    auto css = [](table::Type type) {
      return type == table::Type::text || type == table::Type::location ? "" : " class=\"number\"";
    };
    out += "<div class=\"table-wrap\"><table>\n<tr>";
    for (const table::Column& column : schema.columns) {
      out += fmt::format("<th{} title=\"{}\">{}</th>", css(column.type), table::escape_markup(column.description),
                         table::escape_markup(column.title));
    }
    out += "</tr>\n";
    for (const auto& row : one.table->rows()) {
      out += "<tr>";
      for (size_t c = 0; c < row.size(); ++c) {
        out += fmt::format("<td{}>{}</td>", css(schema.columns[c].type),
                           table::escape_markup(table::cell_text(row[c], schema.columns[c], true)));
      }
      out += "</tr>\n";
    }
    out += "</table></div>\n";
  }
  for (const std::string& note : one.table->notes())
    out += fmt::format("<p class=\"note\">{}</p>\n", table::escape_markup(note));
  return out + "</section>\n";
}

std::string fill(std::string_view form, const std::map<std::string, std::string>& values) {
  std::string out;
  for (;;) {
    size_t open = form.find("{{");
    out += form.substr(0, open);
    if (open == std::string_view::npos) return out;
    size_t close = form.find("}}", open);
    CHECK(close != std::string_view::npos);
    auto value = values.find(std::string(form.substr(open + 2, close - open - 2)));
    CHECK(value != values.end());
    out += value->second;
    form.remove_prefix(close + 2);
  }
}

std::string profile_page(const ProfilePage& page) {
  CHECK(!page.runs.empty() && page.runs.size() <= kRunsMax);
  std::string tables;
  for (const PageTable& one : page.tables) tables += table_html(one);
  return fill(profile_html, {{"title", table::escape_markup(page.title)},
                             {"subtitle", table::escape_markup(page.subtitle)},
                             {"tables", tables},
                             {"data", page_data(page.runs)},
                             {"css", std::string(profile_css)},
                             {"script", std::string(profile_js)},
                             {"dygraph_css", std::string(dygraph_css)},
                             {"dygraph_js", std::string(dygraph_js)}});
}

namespace {

// `explain`: how to read the picture, as HTML.
std::string picture_page(const std::string& title, const std::string& subtitle, const std::string& explain,
                         const std::string& svg, const std::vector<std::string>& sentences,
                         const std::vector<PageTable>& all_tables) {
  std::string tables, notes;
  for (const PageTable& one : all_tables) tables += table_html(one);
  for (const std::string& note : sentences)
    notes += fmt::format("<p class=\"note\">{}</p>\n", table::escape_markup(note));
  return fill(picture_html, {{"title", table::escape_markup(title)},
                             {"subtitle", table::escape_markup(subtitle)},
                             {"explain", explain},
                             {"picture", svg},
                             {"notes", notes},
                             {"tables", tables},
                             {"css", std::string(profile_css)}});
}

}  // namespace

std::string granularity_page(const GranularityPage& page) {
  return picture_page(page.picture.title, page.subtitle,
                      "How long the tasks of each class are on a core, and what the machine does meanwhile. A class is "
                      "<em>active</em> from "
                      "the moment when one of its tasks is handed out until none is pending; below the curves over "
                      "time it has a band in its "
                      "colour there. Steep curves on the left are many small tasks, on the right a few large ones; a "
                      "curve with a long flat "
                      "end has stragglers.",
                      granularity_svg(page.picture), page.notes, page.tables);
}

std::string load_page(const LoadPage& page) {
  return picture_page(page.picture.title, page.subtitle,
                      "How many requests the service answers under a load, and how long answers then take. Where the "
                      "upper curve ceases to "
                      "rise, the service is saturated; the lower ones rise before.",
                      load_svg(page.picture), page.notes, page.tables);
}

}  // namespace contrafact::report
