// Why work in the background is ended where its conversation is over, so that whoever asks about it hears that.

export class SessionEnded extends Error {
  override readonly name = 'SessionEnded'
  constructor() {
    super('the session has ended')
  }
}
