// Property tests take the same samples in every run, so that a failure is a failure of the change and can be seen again.
// `PROPERTY_SEED=random` looks further; what it finds becomes a case of its own.

import fc from 'fast-check'

const { PROPERTY_SEED = '20261130' } = process.env
if (PROPERTY_SEED !== 'random') fc.configureGlobal({ seed: Number(PROPERTY_SEED) })
