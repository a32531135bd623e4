export const fee = 0
