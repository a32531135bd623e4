export const basket = []
