// Planted overflows: "heap" writes past an allocation, "signed" past the largest int.
// AddressSanitizer and UndefinedBehaviorSanitizer must each refuse theirs; without an argument
// nothing is wrong.
#include <climits>
#include <cstring>
#include <vector>

int main(int argc, char** argv) {
  const bool heap = argc > 1 && std::strcmp(argv[1], "heap") == 0;
  const bool large = argc > 1 && std::strcmp(argv[1], "signed") == 0;
  std::vector<char> bytes(16);
  char* const at = bytes.data();
  at[heap ? 16 : 15] = 1;
  int sum = large ? INT_MAX : 0;
  sum += argc;
  return sum == 0 ? 1 : 0;
}
