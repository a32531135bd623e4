// Says whether a number is a multiple of another in decimal, as people mean it: 0.3 is a multiple of 0.1, although their
// binary quotient is not whole, and 1.00000000001 is none of 1.

/** True where `value` is a whole multiple of `factor`. Exact for the decimal forms in which JavaScript writes them. */
export function isMultipleOf(value: number, factor: number): boolean {
  if (Number.isSafeInteger(value) && Number.isSafeInteger(factor)) return value % factor === 0
  const left = decimal(value)
  const right = decimal(factor)
  const scale = Math.max(left.decimals, right.decimals)
  return scaled(left, scale) % scaled(right, scale) === 0n
}

type Decimal = { readonly digits: bigint; readonly decimals: number }

/** digits / 10^decimals; `decimals` may be negative for large numbers. */
function decimal(value: number): Decimal {
  const [mantissa = '', exponent = '0'] = String(value).split('e')
  const [whole = '', fraction = ''] = mantissa.split('.')
  return { digits: BigInt(whole + fraction), decimals: fraction.length - Number(exponent) }
}

const scaled = ({ digits, decimals }: Decimal, scale: number): bigint => digits * 10n ** BigInt(scale - decimals)
