// Who acts, in the records, where a command acts: whoever can run it with the state folder at hand.

export const OPERATOR = 'operator (command line)'
