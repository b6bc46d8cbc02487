# SPDX-License-Identifier: BSD-2-Clause
# filter.bash: the compilers, methods and levels that the assembly filter is tried with. A test sources it.

wrapper=$BIN/epitaph-cc
wrapperxx=$BIN/epitaph-c++

# Compiler and C++ compiler, those that are there; ci/install-deps installs the first two.
compilers=(gcc clang)
for version in 13 15 16 17 18 19; do
	command -v "clang-$version" >/dev/null && [ "${FILTER_ALL:-}" ] && compilers+=("clang-$version")
done

methods_of() { # COMPILER
	case $1 in
	*gcc*) echo pg finstrument ;;
	*) echo after-inlining finstrument ;;
	esac
}

# The command with every compiler and method: $compiler, $method, $level (O2).
each_method() { # COMMAND...
	local level=${level:-O2}
	for compiler in "${compilers[@]}"; do
		export EPITAPH_CC=$compiler EPITAPH_CXX=${compiler/gcc/g++}
		[[ $compiler == clang* ]] && EPITAPH_CXX=${compiler/clang/clang++}
		for method in $(methods_of "$compiler"); do
			"$@" || exit 1
		done
	done
}

# … and at every level.
each_build() { # COMMAND...
	local level
	for level in ${LEVELS:-O0 O2 Os}; do
		each_method "$@"
	done
}
