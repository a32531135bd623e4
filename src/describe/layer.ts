// How strongly the offer of a source stands, one word per strength.

/** Strongest first. A stronger layer shadows a weaker one; a weaker one never replaces a stronger. */
export const LAYERS = ['system', 'session', 'user', 'domain', 'builtin', 'discovered'] as const
export type Layer = (typeof LAYERS)[number]
