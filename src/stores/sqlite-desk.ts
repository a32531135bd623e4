// What people decide, in one SQLite file: approvals, grants and stops, each change together with its record. Every method
// that writes runs inside the caller's write transaction.

import type { Answered, IntentDraft } from '../observe/store.ts'
import { aboutApproval, grantedRecord, wrongCodeRecord } from './approval-answer.ts'
import { type ApprovalChoice, openedRecord } from './approval-choice.ts'
import { SqliteApprovals } from './sqlite-approvals.ts'
import type { SqlDatabase } from './sqlite-driver.ts'
import { SqliteGrants } from './sqlite-grants.ts'
import { type DeskWrite, flatRow } from './sqlite-protocol.ts'
import type { SqliteRecords } from './sqlite-records.ts'
import { SqliteStops } from './sqlite-stops.ts'

export class SqliteDesk {
  readonly approvals: SqliteApprovals
  readonly grants: SqliteGrants
  readonly stops: SqliteStops
  readonly #records: SqliteRecords

  constructor(database: SqlDatabase, records: SqliteRecords) {
    this.approvals = new SqliteApprovals(database)
    this.grants = new SqliteGrants(database)
    this.stops = new SqliteStops(database)
    this.#records = records
  }

  /** Redeems an approval, finds a grant good, or opens a question; undefined for a call that asks nothing. */
  ask({ ask, callId, record }: IntentDraft, now: number): ApprovalChoice | undefined {
    if (ask === undefined) return undefined
    const choice = this.approvals.ask(ask, this.grants.heldFor(ask, now), callId, now)
    if (choice.kind === 'open') {
      this.#records.insert(flatRow(openedRecord(choice.open, record.at, callId)))
    }
    return choice
  }

  carryOut(request: DeskWrite): Answered | boolean | undefined {
    switch (request.kind) {
      case 'answer':
        return this.#answer(request)
      case 'renew-proof':
        return this.#noted(request, this.approvals.renewProof(request.approval, request.proof, request.now))
      case 'revoke': {
        const revoked = this.grants.revoke(request.grant, request.by, request.at)
        const approval = revoked ? this.grants.find(request.grant)?.approvalId : undefined
        if (approval !== undefined) this.approvals.end(approval, request.now)
        return this.#noted(request, revoked)
      }
      case 'stop':
        this.stops.add(request.row)
        this.#noted(request, true)
        return undefined
      case 'lift':
        return this.#noted(request, this.stops.lift(request.stop))
    }
  }

  #answer({ approval, answer, record, now }: Extract<DeskWrite, { kind: 'answer' }>): Answered {
    const done = this.approvals.answer(approval, answer, now)
    if (done.kind === 'answered') this.#records.insert(flatRow(aboutApproval(record, done.approval)))
    if (done.kind === 'answered' && done.grant !== undefined) {
      this.grants.add(done.grant)
      this.#records.insert(flatRow(grantedRecord(done.grant, answer.at)))
    }
    if (done.kind === 'refused' && done.why === 'code-wrong') {
      this.#records.insert(flatRow(wrongCodeRecord(done.approval, answer)))
    }
    return done
  }

  #noted({ record }: Pick<DeskWrite, 'record'>, done: boolean): boolean {
    if (done) this.#records.insert(flatRow(record))
    return done
  }
}
