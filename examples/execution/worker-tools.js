// What a tool in a worker runs: a module of its own, since no function can be handed to another thread.

export function factorise({ number }) {
  for (let divisor = 2; divisor * divisor <= number; divisor += 1) {
    if (number % divisor === 0) return [divisor, ...factorise({ number: number / divisor })]
  }
  return [number]
}

export function spin() {
  for (;;);
}
