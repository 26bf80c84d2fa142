// fedavg/flights.cpp: the programs for data shaped like flights.
#include "make_trainer.hpp"

template std::unique_ptr<fedavg::trainer> fedavg::make_trainer<fedavg::flights_shape>(drx::session&, const dataset&,
                                                                                      const dataset&, const partition&,
                                                                                      int, float, bool);
