"""Implied volatilities of 20000 options by seven steps of Newton's method: their mean and its slope by the rate, double.

Bound: vectors of doubles: two error functions, a logarithm and exponentials in each step.
"""

import jax
import jax.numpy as jnp
import numpy as np
import scipy.special


def arguments(random):
    strike, years, sd = random.uniform(0.8, 1.25, 20000), random.uniform(0.5, 2, 20000), random.uniform(0.2, 0.6, 20000)
    root, rate = sd * np.sqrt(years), 0.02
    d = (rate * years - np.log(strike)) / root + 0.5 * root
    paid = scipy.special.ndtr(d) - strike * np.exp(-rate * years) * scipy.special.ndtr(d - root)
    return [np.float64(rate), strike, years, paid]


def cumulative(x):
    return 0.5 * jax.lax.erfc(-x / np.sqrt(2.0))


def price(sd, rate, strike, years):
    root = sd * jnp.sqrt(years)
    d = (rate * years - jnp.log(strike)) / root + 0.5 * root
    return cumulative(d) - strike * jnp.exp(-rate * years) * cumulative(d - root)


def newton(rate, strike, years, paid, unroll=1):
    def step(sd, _):
        value, slope = jax.vmap(jax.value_and_grad(price), (0, None, 0, 0))(sd, rate, strike, years)
        return sd - (value - paid) / slope, None

    return jnp.mean(jax.lax.scan(step, jnp.full(strike.shape, 0.4), None, length=7, unroll=unroll)[0])


def by_hand(rate, strike, years, paid):  # the slope is known
    root_years, log_strike, discounted = jnp.sqrt(years), jnp.log(strike), strike * jnp.exp(-rate * years)

    def step(sd, _):
        root = sd * root_years
        d = (rate * years - log_strike) / root + 0.5 * root
        value = cumulative(d) - discounted * cumulative(d - root)
        return sd - (value - paid) / (root_years * jnp.exp(-0.5 * d * d) / np.sqrt(2 * np.pi)), None

    return jnp.mean(jax.lax.scan(step, jnp.full(strike.shape, 0.4), None, length=7)[0])


def forward(f):
    return lambda rate, *data: jax.jvp(lambda r: f(r, *data), (rate,), (jnp.ones_like(rate),))


twins = {"reverse": jax.value_and_grad(newton), "unrolled": jax.value_and_grad(lambda *a: newton(*a, unroll=7)), "forward": forward(newton),
         "by hand": jax.value_and_grad(by_hand), "by hand, forward": forward(by_hand)}
