// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// What tests ask of the fake compiler: values of the config key `bn`, which every compile may have, that are no tile
// size of anybody.

#ifndef TILEJIT_TEST_UNIT_RUNTIMETROUBLE_H
#define TILEJIT_TEST_UNIT_RUNTIMETROUBLE_H

namespace tilejit::test {

enum Trouble : int {
  NoTrouble = 0,
  Crash = 60001,
  Exit = 60002,
  Hang = 60003,    ///< After telling the test's fifo, where there is one.
  Spin = 60004,    ///< Burns CPU time.
  Greedy = 60005,  ///< Allocates more than any limit.
  Chatter = 60006, ///< Writes megabytes to stderr, then answers.
  Refuse = 60007,  ///< The C tests use this number too.
  Garbage = 60008, ///< Answers bytes that are no response.
  Silent = 60009,  ///< Answers nothing.
  DamagedPayload = 60010,
};

} // namespace tilejit::test

#endif // TILEJIT_TEST_UNIT_RUNTIMETROUBLE_H
