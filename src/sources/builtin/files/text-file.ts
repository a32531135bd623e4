// Tells text files from all others: text is UTF-8 without NUL. Anything else would come back changed from reading it as text.

import { isUtf8 } from 'node:buffer'

export const isText = (bytes: Buffer): boolean => !bytes.includes(0) && isUtf8(bytes)
