# SPDX-License-Identifier: BSD-2-Clause
# budget run as a launcher: of ctest by CROSSCOMPILING_EMULATOR and by add_test's own words, of Automake's tests by LOG_COMPILER
# and its parallel harness; tests run in parallel, pass and fail as they do alone, and each one's calls are filed.
set -euo pipefail
source "$TOP/tests/cli/lib/traced.bash"
results=$PWD/results
export EPITAPH_BUDGET_RESULTS=$results

filed() { # NAME CALLS
	has "$results/$1.run" "calls = $2"
}

# ---- ctest ----
mkdir cmake && cp "$TOP/tests/programs/records.c" cmake
cat >cmake/CMakeLists.txt <<EOF
cmake_minimum_required(VERSION 3.25)
project(sample C)
enable_testing()
add_executable(records records.c)
set_target_properties(records PROPERTIES CROSSCOMPILING_EMULATOR "$BIN/epitaph;budget;run;--test=emulated;--")
add_test(NAME emulated COMMAND records 1000)
add_executable(bare records.c)
foreach(number RANGE 1 4)
	add_test(NAME bare\${number} COMMAND "$BIN/epitaph" budget run --test=bare\${number} -- \$<TARGET_FILE:bare> \${number}00)
endforeach()
add_test(NAME failing COMMAND "$BIN/epitaph" budget run --test=failing -- \$<TARGET_FILE:bare> 10 1)
add_test(NAME dying COMMAND "$BIN/epitaph" budget run --test=dying -- \$<TARGET_FILE:bare> 10 abort)
EOF
cmake -S cmake -B cmake/build -DCMAKE_C_COMPILER="$BIN/epitaph-cc" -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS=-O1 >log 2>&1 ||
	{ cat log; exit 1; }
cmake --build cmake/build >>log 2>&1 || { cat log; exit 1; }
gives 8 ctest --test-dir cmake/build -j4
has out 'tests failed out of 7'
for number in 1 2 3 4; do
	grep -qE "bare$number +\.+ +Passed" out || say "bare$number did not pass"
	filed bare$number $((number * 400 + 2))
done
grep -qE 'emulated +\.+ +Passed' out || say 'emulated did not pass'
grep -qE 'failing +\.+\*+Failed' out || { say 'failing did not fail'; cat out; }
grep -qE 'dying +\.+Subprocess aborted' out || { say 'dying did not die for ctest'; cat out; }
filed emulated 4002
filed failing 42
filed dying 42

# ---- Automake ----
mkdir automake && cp "$TOP/tests/programs/records.c" automake
cd automake
cat >configure.ac <<'EOF'
AC_INIT([sample], [1])
AM_INIT_AUTOMAKE([foreign])
AC_PROG_CC
AC_CONFIG_FILES([Makefile])
AC_OUTPUT
EOF
cat >Makefile.am <<EOF
check_PROGRAMS = records
TESTS = one.test two.test three.test
TEST_EXTENSIONS = .test
# A launcher needs the test's name: a line of shell gives it.
TEST_LOG_COMPILER = sh -c 'exec "$BIN/epitaph" budget run --test="am-\$\$(basename "\$\$0" .test)" -- sh "\$\$0" "\$\$@"'
EOF
for test in one two three; do echo "exec ./records \$(expr length $test)00"; done | split -l 1 - part.
mv part.aa one.test && mv part.ab two.test && mv part.ac three.test
echo 'exit 1' >>three.test && sed -i 's/^exec //' three.test
(autoreconf -fi && ./configure CC="$BIN/epitaph-cc" CFLAGS='-g -O1') >log 2>&1 || { tail -20 log; exit 1; }
gives 2 make -j4 check
has out '# PASS:  2'
has out '# FAIL:  1'
cd ..
filed am-one 1202
filed am-two 1202
filed am-three 2002
gives 2 "$BIN/epitaph" budget check
[ "$(grep -c ': unknown: ' out)" = 10 ] || { say 'not all are there'; cat out; }
[ "$failures" = 0 ]
