// The JSON Schema of `lockgate.yaml` for editors, made from the shapes that the reader uses. `schema/lockgate.schema.json`
// is a copy of it (`node scripts/write-schema.mjs`), and a test holds the two together.

import type { JsonObject } from '../../base/json-value.ts'
import { configuration } from './config-shape.ts'

export const configurationSchema: JsonObject = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  title: 'lockgate.yaml',
  description:
    'Configuration of Lockgate. Durations read 500ms, 45s, 5m, 1h, 7d; sizes 900B, 48KB, 1MB, a kilobyte being 1,024 bytes.',
  ...configuration.schema,
}
