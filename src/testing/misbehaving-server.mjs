// An MCP server that does what a server should not, one switch at a time, for tests of whoever has to live with such
// servers. It speaks the handshake revision 2025-11-25 over stdio, or over Streamable HTTP, needs nothing but Node, and
// is run as `node misbehaving-server.mjs '{"dieDuringCall":2}'`. Its one argument is a JSON object of switches:
//
//   http              true: serve Streamable HTTP on a free port of 127.0.0.1; the first line printed is {"url": ...}
//   startAfterMs      wait so long before doing anything
//   muteInitialize    never answer `initialize`
//   exitOnProbe       end at a first message that is not `initialize`
//   muteProbe         never answer a method that it does not know
//   dieDuringCall     end without an answer at the call of this number, counted from 1
//   dieAfterCall      end after the answer to the call of this number
//   garbage           print lines that are no messages before each answer; HTTP: events on a stream
//   answerTwice       answer each call twice, and once under an id that nobody asked with
//   stubborn          go on when the input closes and at SIGTERM
//   complain          write so many bytes to standard error at the start
//   tools             definitions to list beside its own, word for word
//   onlyTools         list these and none of its own
//   toolCount         list so many more tools, named t0, t1, ...
//   endlessCursor     each page of the list names another one
//   repeatCursor      each page of the list names the same next one
//   changeAtCall      at the call of this number, the description of `echo` changes
//   changeAtRestart   the path of a file: `echo` has its changed description where the file exists, and it is made at the end
//                     of the start
//   removeAtCall      at the call of this number, `echo` is gone
//   announce          say so many times that the tools have changed when they do
//   mediaType, status HTTP: what answers are labelled with
//   forgetSessionAtCall  HTTP: at the call of this number the session is unknown (404)
//   answerOnStream    HTTP: answer on an event stream, after a comment and a notification
//
// Its own tools: echo {text}, count, pid, env, fail, protocol_error, crash, mismatch, no_structure, bad_content,
// both_ends, big {bytes, parts}, deep {depth}, hang, slow {ms, refuses}, flood {times}, steps {times, ms} (says how far it is, then
// answers), spawn_child, endless_line, cut (HTTP: the stream ends without an answer), ask (asks the client for roots and
// sampling, and answers what came back), cancelled (how many requests it was told to stop; it stops none of them), handshakes
// (how often it was asked to `initialize`), write_file {path}, read_file {path}, connect {port}, grow {bytes}.

import { spawn } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { connect } from 'node:net'
import { createInterface } from 'node:readline'

const switches = JSON.parse(process.argv[2] ?? '{}')
const state = { calls: 0, cancelled: 0, handshakes: 0, changed: false, removed: false, session: 1, asked: new Map() }

const object = (properties = {}) => ({ type: 'object', properties })
const number = { type: 'number' }
const numberOutput = { type: 'object', properties: { n: number }, required: ['n'] }

function ownTools() {
  const echo = {
    name: 'echo',
    description: state.changed ? 'Says it again, and more.' : 'Says it again.',
    inputSchema: object({ text: { type: 'string' } }),
    annotations: { readOnlyHint: true },
  }
  const plain = [
    'count',
    'pid',
    'env',
    'fail',
    'protocol_error',
    'crash',
    'bad_content',
    'both_ends',
    'hang',
    'spawn_child',
    'endless_line',
    'cut',
    'ask',
    'cancelled',
    'handshakes',
  ]
  return [
    ...(state.removed ? [] : [echo]),
    ...plain.map((name) => ({ name, description: `The tool ${name}.`, inputSchema: object() })),
    {
      name: 'mismatch',
      description: 'Answers a text where a number is promised.',
      inputSchema: object(),
      outputSchema: numberOutput,
    },
    {
      name: 'no_structure',
      description: 'Answers no structure where one is promised.',
      inputSchema: object(),
      outputSchema: numberOutput,
    },
    {
      name: 'big',
      description: 'Answers so many bytes in so many parts.',
      inputSchema: object({ bytes: number, parts: number }),
    },
    { name: 'deep', description: 'Answers a structure of this depth.', inputSchema: object({ depth: number }) },
    {
      name: 'slow',
      description: 'Answers after so many milliseconds.',
      inputSchema: object({ ms: number, refuses: { type: 'boolean' } }),
    },
    { name: 'flood', description: 'Reports progress so many times.', inputSchema: object({ times: number }) },
    {
      name: 'steps',
      description: 'Says how far it is, so many times.',
      inputSchema: object({ times: number, ms: number }),
    },
    { name: 'write_file', description: 'Writes a file.', inputSchema: object({ path: { type: 'string' } }) },
    { name: 'read_file', description: 'Reads a file.', inputSchema: object({ path: { type: 'string' } }) },
    { name: 'connect', description: 'Connects to a port of this machine.', inputSchema: object({ port: number }) },
    { name: 'grow', description: 'Takes so much memory.', inputSchema: object({ bytes: number }) },
  ]
}

function listPage(cursor) {
  const numbered = Array.from({ length: switches.toolCount ?? 0 }, (_, index) => ({
    name: `t${index}`,
    description: 'One of many.',
    inputSchema: object(),
  }))
  const tools = switches.onlyTools ?? [...ownTools(), ...(switches.tools ?? []), ...numbered]
  if (switches.endlessCursor)
    return { tools: cursor === undefined ? tools : [], nextCursor: `page-${Number((cursor ?? 'page-0').slice(5)) + 1}` }
  if (switches.repeatCursor) return { tools: cursor === undefined ? tools : [], nextCursor: 'again' }
  return { tools }
}

const text = (value) => ({ content: [{ type: 'text', text: value }] })
const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
const nest = (depth) => JSON.parse(`${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`)

/** What each tool answers; `peer` sends messages to the client that called. */
const answers = {
  echo: ({ text: said = '' }) => text(String(said)),
  count: () => text(String(state.calls)),
  pid: () => text(String(process.pid)),
  env: () => text(Object.keys(process.env).sort().join(',')),
  fail: () => ({ ...text('the disk is full'), isError: true }),
  protocol_error: () => ({ error: { code: -32602, message: 'no: /secret/path at line 7' } }),
  crash: () => process.exit(3),
  mismatch: () => ({ ...text('n'), structuredContent: { n: 'many' } }),
  no_structure: () => text('n'),
  bad_content: () => ({ content: [{ type: 'image', data: '%%%', mimeType: 'image/png' }] }),
  both_ends: () => ({ ...text('yes'), error: { code: 1, message: 'no' } }),
  big: ({ bytes = 1_000_000, parts = 1 }) => ({
    content: Array.from({ length: parts }, () => ({ type: 'text', text: 'x'.repeat(bytes) })),
  }),
  deep: ({ depth = 1000 }) => ({ ...text('deep'), structuredContent: nest(depth) }),
  hang: () => new Promise(() => {}),
  slow: async ({ ms = 100, refuses = false }) => {
    await wait(ms)
    return refuses ? { error: { code: -32603, message: 'no: /secret/path' } } : text('done')
  },
  flood: ({ times = 1000 }, peer, token) => {
    for (let step = 0; step < times; step++)
      peer({ jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: token, progress: step } })
    return text('flooded')
  },
  spawn_child: () => {
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], {
      stdio: ['ignore', 'inherit', 'ignore'],
    })
    return text(String(child.pid))
  },
  endless_line: () => {
    const write = () => {
      while (process.stdout.write('x'.repeat(65_536)));
      process.stdout.once('drain', write)
    }
    write()
    return new Promise(() => {})
  },
  cut: () => ({ cut: true }),
  cancelled: () => text(String(state.cancelled)),
  handshakes: () => text(String(state.handshakes)),
  steps: async ({ times = 3, ms = 100 }, peer, token) => {
    for (let step = 1; step <= times; step++) {
      const params = { progressToken: token, progress: step, total: times, message: `step ${step}` }
      peer({ jsonrpc: '2.0', method: 'notifications/progress', params })
      await wait(ms)
    }
    return text('done')
  },
  write_file: ({ path = '' }) => attempt(() => writeFileSync(path, 'written')),
  read_file: ({ path = '' }) => attempt(() => readFileSync(path, 'utf8')),
  connect: ({ port = 0 }) =>
    new Promise((resolve) => {
      const socket = connect(port, '127.0.0.1', () => {
        socket.destroy()
        resolve(text('connected'))
      })
      socket.once('error', ({ code }) => resolve(text(String(code))))
    }),
  grow: ({ bytes = 0 }) => {
    state.held = Array.from({ length: Math.ceil(bytes / 1_000_000) }, () => Buffer.alloc(1_000_000, 1))
    return text('grown')
  },
  ask: async (_args, peer) =>
    text(JSON.stringify([await ask(peer, 'roots/list'), await ask(peer, 'sampling/createMessage')])),
}

function attempt(action) {
  try {
    return text(String(action() ?? 'done'))
  } catch ({ code }) {
    return text(String(code))
  }
}

function ask(peer, method) {
  const id = `ask-${state.asked.size + 1}`
  peer({ jsonrpc: '2.0', id, method, params: { messages: [], maxTokens: 1 } })
  return new Promise((resolve) => state.asked.set(id, resolve))
}

function changeTools(peer) {
  if (state.calls === switches.changeAtCall) state.changed = true
  else if (state.calls === switches.removeAtCall) state.removed = true
  else return
  for (let time = 0; time < (switches.announce ?? 0); time++)
    peer({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' })
}

async function callTool({ name, arguments: args = {}, _meta = {} }, peer) {
  state.calls += 1
  if (state.calls === switches.dieDuringCall) process.exit(1)
  changeTools(peer)
  const answer = Object.hasOwn(answers, name) ? answers[name] : undefined
  return answer === undefined ? text(`${name} was called`) : await answer(args, peer, _meta.progressToken)
}

/** The messages that answer one; none for notifications and for what is kept silent about. */
async function respond(message, peer) {
  const { id, method, params = {} } = message
  if (method === undefined) {
    state.asked.get(id)?.(message.error ?? message.result)
    return []
  }
  if (method === 'notifications/cancelled') state.cancelled += 1
  if (id === undefined) return []
  if (method === 'initialize') {
    state.handshakes += 1
    if (switches.muteInitialize) return []
    const result = {
      protocolVersion: '2025-11-25',
      capabilities: { tools: { listChanged: true } },
      serverInfo: { name: 'misbehaving', version: '1.0.0' },
    }
    return [{ jsonrpc: '2.0', id, result }]
  }
  if (switches.exitOnProbe && method === 'server/discover') process.exit(1)
  if (method === 'tools/list') return [{ jsonrpc: '2.0', id, result: listPage(params.cursor) }]
  if (method === 'ping') return [{ jsonrpc: '2.0', id, result: {} }]
  if (method !== 'tools/call')
    return switches.muteProbe ? [] : [{ jsonrpc: '2.0', id, error: { code: -32601, message: 'method not found' } }]
  const { error, cut, ...result } = await callTool(params, peer)
  if (cut) return ['cut']
  const answer = {
    jsonrpc: '2.0',
    id,
    ...(error === undefined ? { result } : Object.keys(result).length > 0 ? { result, error } : { error }),
  }
  return switches.answerTwice ? [answer, { ...answer, id: 987_654 }, answer] : [answer]
}

function serveStdio() {
  const peer = (message) => process.stdout.write(`${JSON.stringify(message)}\n`)
  if (switches.stubborn) {
    process.on('SIGTERM', () => {})
    setInterval(() => {}, 1000)
  }
  const lines = createInterface({ input: process.stdin })
  lines.on('close', () => {
    if (!switches.stubborn) process.exit(0)
  })
  lines.on('line', async (line) => {
    const messages = await respond(JSON.parse(line), peer)
    if (switches.garbage) process.stdout.write('this is no message\n{"half": \n[1,2\n\n\u0000\n')
    for (const message of messages) if (message !== 'cut') peer(message)
    if (switches.dieAfterCall !== undefined && state.calls === switches.dieAfterCall) process.exit(1)
  })
}

async function readBody(request) {
  let body = ''
  for await (const chunk of request) body += chunk
  return body
}

async function serveHttpRequest(request, response) {
  if (request.method !== 'POST') return response.writeHead(405).end()
  const message = JSON.parse(await readBody(request))
  if (message.method === 'tools/call' && state.calls + 1 === switches.forgetSessionAtCall && state.session === 1)
    state.session += 1
  const known =
    message.method === 'initialize' ||
    message.method === 'server/discover' ||
    request.headers['mcp-session-id'] === `s${state.session}`
  if (!known)
    return response
      .writeHead(404, { 'content-type': 'application/json' })
      .end('{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"session not found"}}')
  const sent = []
  const messages = await respond(message, (extra) => sent.push(extra))
  const headers = { 'mcp-session-id': `s${state.session}` }
  if (messages.length === 0) return message.id === undefined ? response.writeHead(202).end() : undefined
  if (messages[0] === 'cut' || switches.answerOnStream || sent.length > 0) {
    response.writeHead(200, { ...headers, 'content-type': 'text/event-stream' })
    response.write(': a comment\n\n')
    for (const extra of [
      ...sent,
      { jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 'hello' } },
      ...messages,
    ]) {
      if (switches.garbage) response.write('data: this is no message\n\n')
      if (extra !== 'cut') response.write(`data: ${JSON.stringify(extra)}\n\n`)
    }
    return response.end()
  }
  response.writeHead(switches.status ?? 200, { ...headers, 'content-type': switches.mediaType ?? 'application/json' })
  response.end(JSON.stringify(messages[0]))
  if (switches.dieAfterCall !== undefined && state.calls === switches.dieAfterCall)
    response.once('close', () => process.exit(1))
}

function serveHttp() {
  const server = createServer((request, response) => {
    serveHttpRequest(request, response).catch(() => response.destroy())
  })
  server.listen(0, '127.0.0.1', () =>
    console.log(JSON.stringify({ url: `http://127.0.0.1:${server.address().port}/mcp` })),
  )
}

if (switches.complain) process.stderr.write(`${'?'.repeat(switches.complain)}\n`)
await wait(switches.startAfterMs ?? 0)
if (switches.changeAtRestart !== undefined) {
  state.changed = existsSync(switches.changeAtRestart)
  writeFileSync(switches.changeAtRestart, '')
}
if (switches.http) serveHttp()
else serveStdio()
