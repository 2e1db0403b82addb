// The rules of the repository that a compiler does not enforce (CONTRIBUTING.md explains them).
// Every check returns what breaks its rule; an empty result is a pass.
#pragma once

#include <string>
#include <vector>

#include "tests/repo/tree.h"

namespace cyclecast::repo {

// A folder includes only the folders below it: core <- timing <- mapping <- {analytical, sim,
// learned, traces} <- apps, io includes core. Project headers are included by their path from the
// root, and exist.
std::vector<Finding> IncludeDirection(const Tree& tree);

// Headers of other libraries stay in one folder each: yaml-cpp and ONNX in io/, SystemC in sim/,
// XGBoost in one .cc of learned/. A header that includes one of these, or one that costs seconds to
// compile, is private to its folder: nobody outside includes it, directly or through other headers.
std::vector<Finding> HeaderConfinement(const Tree& tree);

// Hardware is data: no name or alias of a file in configs/tpu or configs/vpu appears in product
// code.
std::vector<Finding> ChipNames(const Tree& tree);

// The names ChipNames looks for, ordered.
std::vector<std::string> NamesOfMachines(const Tree& tree);

// Lines of code per file: more than 500 is a finding. More than 400 is only worth a look:
// LongFiles.
std::vector<Finding> FileLength(const Tree& tree);
std::vector<Finding> LongFiles(const Tree& tree);

// Every line of a machine's file that gives a number says in a trailing comment where it comes
// from.
std::vector<Finding> SourceOfNumbers(const Tree& tree);

// Words that mark what is not done, and paths of somebody's machine.
std::vector<Finding> ForbiddenWords(const Tree& tree);

// Every .cc file is named in the CMakeLists.txt of its folder; every header starts with a comment
// that says what it is for, and has #pragma once; every test file asserts something.
std::vector<Finding> SourceHygiene(const Tree& tree);

}  // namespace cyclecast::repo
