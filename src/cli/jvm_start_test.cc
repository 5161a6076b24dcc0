// Start scripts: what they run, however they say it. The shapes are those of the programs named.
#include "cli/jvm_start.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/check.h"

namespace contrafact::cli {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class StartScripts : public testing::Test {
 protected:
  StartScripts() {
    std::string pattern = (fs::temp_directory_path() / "contrafact-start-XXXXXX").string();
    CHECK(::mkdtemp(pattern.data()) != nullptr);
    folder_ = pattern;
  }
  ~StartScripts() override { fs::remove_all(folder_); }
  std::string file(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name) << text;
    return (folder_ / name).string();
  }
  JvmStart script(const std::string& body, const std::string& shebang = "#!/bin/sh") {
    const std::string path = file("start", shebang + "\n" + body);
    return find_jvm_start({path}, path);
  }
  bool starts(const std::string& body, const std::string& shebang = "#!/bin/sh") {
    return script(body, shebang).starts;
  }
  fs::path folder_;
};

TEST_F(StartScripts, Plain) {
  EXPECT_TRUE(starts("java -jar x.jar\n"));
  EXPECT_TRUE(starts("exec /opt/jdk/bin/java -cp a:b Main \"$@\"\n"));
  EXPECT_TRUE(starts("exec nohup nice -n 5 java -jar x.jar &\n"));
  EXPECT_TRUE(starts("cd /x && java -jar x.jar || exit 1\n"));
  EXPECT_TRUE(starts("if true; then\n  exec -a name \"$JAVA_HOME/bin/java\" \\\n    -jar x.jar\nfi\n"));
  EXPECT_TRUE(starts("FOO=1 java -jar x.jar\n"));
  EXPECT_TRUE(starts("java -jar x.jar\n", "#!/usr/bin/env bash"));
  EXPECT_TRUE(starts("java -jar x.jar\n", "#! /usr/bin/env -S A=b bash -e"));
}

TEST_F(StartScripts, SaysWhereAndWhat) {
  const JvmStart found = script("# java\nset -e\n\nexec java \\\n -jar x.jar\n");
  EXPECT_EQ(found.why, "line 5 of 'start' runs java");
  EXPECT_TRUE(found.starts);
}

TEST_F(StartScripts, Maven) {
  EXPECT_TRUE(starts(R"(
if [ -z "$JAVACMD" ] ; then
  if [ -n "$JAVA_HOME"  ] ; then
    JAVACMD="$JAVA_HOME/bin/java"
  else
    JAVACMD="`\\unset -f command; \\command -v java`"
  fi
fi
if [ ! -x "$JAVACMD" ] ; then
  echo "Error: java is not found" >&2
  exit 1
fi
exec "$JAVACMD" \
  $MAVEN_OPTS \
  -classpath "${CLASSWORLDS_JAR}" \
  ${CLASSWORLDS_LAUNCHER} "$@"
)"));
}

TEST_F(StartScripts, Gradle) {
  EXPECT_TRUE(starts(R"(
if [ -n "$JAVA_HOME" ] ; then
    JAVACMD=$JAVA_HOME/bin/java
    if [ ! -x "$JAVACMD" ] ; then
        die "ERROR: JAVA_HOME is set to an invalid directory"
    fi
else
    JAVACMD=java
    if ! command -v java >/dev/null 2>&1
    then
        die "no java"
    fi
fi
set -- \
        "-Dorg.gradle.appname=$APP_BASE_NAME" \
        -classpath "$CLASSPATH" \
        org.gradle.wrapper.GradleWrapperMain \
        "$@"
exec "$JAVACMD" "$@"
)"));
}

TEST_F(StartScripts, TomcatThroughTwoScripts) {
  file("catalina.sh", R"(#!/bin/sh
. "$CATALINA_HOME"/bin/setclasspath.sh
if [ "$1" = "start" ] ; then
  shift
  eval $_NOHUP "\"$_RUNJAVA\"" "\"$CATALINA_LOGGING_CONFIG\"" $LOGGING_MANAGER "$JAVA_OPTS" \
    -classpath "\"$CLASSPATH\"" org.apache.catalina.startup.Bootstrap "$@" start \
    >> "$CATALINA_OUT" 2>&1 "&"
fi
)");
  const JvmStart found = script(R"(
PRG="$0"
PRGDIR=`dirname "$PRG"`
EXECUTABLE=catalina.sh
if [ ! -x "$PRGDIR"/"$EXECUTABLE" ]; then
  echo "Cannot find $PRGDIR/$EXECUTABLE"
  exit 1
fi
exec "$PRGDIR"/"$EXECUTABLE" start "$@"
)");
  EXPECT_TRUE(found.starts);
  EXPECT_THAT(found.why, HasSubstr("'catalina.sh' runs java"));
}

TEST_F(StartScripts, Kafka) {
  file("kafka-run-class.sh", R"(#!/bin/bash
if [ -z "$JAVA_HOME" ]; then
  JAVA="java"
else
  JAVA="$JAVA_HOME/bin/java"
fi
JAVA_MAJOR_VERSION=$("$JAVA" -version 2>&1 | sed -E -n 's/.* version "([0-9]*).*$/\1/p')
if [ "x$DAEMON_MODE" = "xtrue" ]; then
  nohup "$JAVA" $KAFKA_HEAP_OPTS -cp "$CLASSPATH" $KAFKA_OPTS "$@" > "$CONSOLE_OUTPUT_FILE" 2>&1 < /dev/null &
else
  exec "$JAVA" $KAFKA_HEAP_OPTS -cp "$CLASSPATH" $KAFKA_OPTS "$@"
fi
)");
  EXPECT_TRUE(
      starts("base_dir=$(dirname $0)\nEXTRA_ARGS=${EXTRA_ARGS-'-name kafkaServer'}\n"
             "exec $base_dir/kafka-run-class.sh $EXTRA_ARGS kafka.Kafka \"$@\"\n",
             "#!/bin/bash"));
}

TEST_F(StartScripts, OfVariablesArraysAndFunctions) {
  // Elasticsearch: another script sets JAVA.
  EXPECT_TRUE(
      starts("source \"`dirname \"$0\"`\"/elasticsearch-env\nexec \"$JAVA\" $CLI_JAVA_OPTS -cp \"$X\" Main \"$@\"\n"));
  // sbt
  EXPECT_TRUE(starts(
      "declare java_cmd=\"java\"\nexecRunner () {\n  \"$@\"\n}\nexecRunner \"$java_cmd\" -jar sbt.jar \"$@\"\n"));
  // scala
  EXPECT_TRUE(
      starts("execCommand () {\n  [[ -n $DEBUG ]] && echo \"$@\"\n  \"$@\"\n}\n"
             "execCommand \"${JAVACMD:=java}\" $JAVA_OPTS -cp \"$CP\" scala.tools.nsc.MainGenericRunner \"$@\"\n"));
  // A whole command in a variable, or an array.
  EXPECT_TRUE(starts("CMD=\"$JAVA_HOME/bin/java -jar x.jar\"\nexec $CMD \"$@\"\n"));
  EXPECT_TRUE(starts("cmd=(\"$JAVA_HOME/bin/java\" -cp x Main)\nexec \"${cmd[@]}\"\n", "#!/bin/bash"));
  // Spark
  EXPECT_TRUE(starts(
      "RUNNER=\"${JAVA_HOME}/bin/java\"\nbuild_command() {\n  \"$RUNNER\" -Xmx128m -cp \"$C\" Main \"$@\"\n}\n"));
  // Debian's wrapper
  EXPECT_TRUE(starts("JAVA_EXE=$(which java)\n$NICE $JAVA_EXE -jar x.jar\n"));
}

TEST_F(StartScripts, LibreOfficeStartsNone) {
  const JvmStart found = script(R"(
# java is found by javaldx; JAVA_HOME may help
sd_prog=`dirname "$0"`
for arg in "$@" ; do
  case "$arg" in
    -env:*|java|--java) BOOTSTRAPVARS=$BOOTSTRAPVARS" $arg";;
    --valgrind) RR="--valgrind";;
  esac
done
if [ -x "$sd_prog/javaldx" ] ; then
  # this is a temporary hack until we can live with the default search paths
  java_ldpath=`"$sd_prog/javaldx" $BOOTSTRAPVARS "-env:INIFILENAME=vnd.sun.star.pathname:$sd_prog/redirectrc"`
  LD_LIBRARY_PATH="$java_ldpath/jre/lib/amd64/java"
fi
unset JAVA java
echo "java is not needed"
"$sd_prog/oosplash" "$@"
exec "$sd_prog/soffice.bin" "$@"
)");
  EXPECT_FALSE(found.starts);
  EXPECT_TRUE(found.mentions);
}

TEST_F(StartScripts, WhatOnlyMentionsJava) {
  EXPECT_FALSE(starts("# java -jar x.jar\nexec ./server\n"));
  EXPECT_FALSE(starts("cat <<EOF\njava -jar x.jar\nEOF\nexec ./server\n"));
  EXPECT_FALSE(starts("cat <<-'EOF'\n\tjava -jar x.jar\n\tEOF\nexec ./server\n"));
  EXPECT_FALSE(starts("echo 'java -jar x.jar'\nexec ./server\n"));
  EXPECT_FALSE(starts("echo start; # java -jar x.jar\nexec ./server\n"));
  EXPECT_FALSE(starts("if command -v java > /dev/null; then has=1; fi\nwhich java\nexec ./server\n"));
  EXPECT_FALSE(starts("java -version 2>/dev/null && v=`java -version`\nexec ./server --with java\n"));
  EXPECT_FALSE(starts("version=$(java -cp tools.jar Version)\nexec ./server\n"));
  EXPECT_FALSE(starts("case $1 in\n  java) exec ./server;;\nesac\n"));
  EXPECT_FALSE(starts("find . -name java -exec rm {} +\ngrep java -r .\n"));
  EXPECT_FALSE(starts("export JAVA=/usr/bin/java\nJAVACMD=java\nexec ./server\n"));
  EXPECT_FALSE(starts("javac Main.java\njar cf x.jar\nexec ./server > java\n"));
  EXPECT_FALSE(starts("JAVA=./native-tool\nexec \"$JAVA\" run\n"));
}

TEST_F(StartScripts, OtherInterpretersThanAShell) {
  const JvmStart found =
      script("import subprocess\nsubprocess.call(['java', '-jar', 'x.jar'])  # java -jar\n", "#!/usr/bin/env python3");
  EXPECT_FALSE(found.starts);
  EXPECT_TRUE(found.mentions);
  EXPECT_FALSE(starts("java -jar x.jar\n", "#!/usr/bin/perl"));
  EXPECT_FALSE(script("print 1\n", "#!/usr/bin/python3").mentions);
}

TEST_F(StartScripts, OtherScriptsWhereTheirPathSays) {
  fs::create_directory(folder_ / "bin");
  const std::string other = file("bin/run", "#!/bin/sh\njava Main\n");
  EXPECT_TRUE(starts("./bin/run x\n"));
  EXPECT_TRUE(starts("exec " + other + " x\n"));
  EXPECT_TRUE(starts("sh bin/run\n"));
  EXPECT_FALSE(starts("./lib/nothing x\n"));
}

TEST_F(StartScripts, ScriptsThatRunEachOtherEnd) {
  file("other", "#!/bin/sh\n./start\n./other\n");
  EXPECT_FALSE(starts("./other\n./start\n"));
}

TEST_F(StartScripts, BrokenTextEnds) {
  for (const char* text : {"\"", "'", "`", "$(", "${", "x=(", "cat <<EOF", "cat <<", "\\", "((", "))", "$", "a()",
                           "function", ">", "exec"})
    EXPECT_FALSE(starts(text)) << text;
}

TEST_F(StartScripts, WordsOfACommand) {
  const auto starts_by = [](const std::vector<std::string>& words) {
    return find_jvm_start(words, "/usr/bin/" + words.front()).starts;
  };
  EXPECT_TRUE(starts_by({"timeout", "5", "java", "-jar", "x.jar"}));
  EXPECT_TRUE(starts_by({"env", "A=b", "/opt/jdk/bin/java", "Main"}));
  EXPECT_TRUE(starts_by({"sh", "-c", "exec java -jar x.jar"}));
  EXPECT_TRUE(starts_by({"bash", "-ec", "cd /x; java Main"}));
  EXPECT_TRUE(starts_by({"timeout", "5", "sh", "-c", "java Main"}));
  EXPECT_TRUE(starts_by({"my-wrapper", "java", "-jar", "x.jar"}));
  EXPECT_TRUE(starts_by({"bash", file("run", "#!/bin/bash\njava -jar x.jar\n")}));
  EXPECT_FALSE(starts_by({"grep", "-r", "java", "."}));
  EXPECT_FALSE(starts_by({"soffice.bin", "--infilter", "java"}));
  EXPECT_FALSE(starts_by({"sh", "-c", "echo java"}));
  EXPECT_FALSE(starts_by({"ls", "/usr/bin/java", "Main"}));
  EXPECT_FALSE(starts_by({"timeout", "5", "java", "-version"}));
}

}  // namespace
}  // namespace contrafact::cli
