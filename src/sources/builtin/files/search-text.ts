// `search_text`: the lines of text files that hold a literal text or match a pattern. Its time is linear in what it reads, and
// bounded in all; it shows no binary file and follows no link.

import { textPart } from '../../../describe/content.ts'
import type { Refusal, RunContext, Tool } from '../../../describe/tool.ts'
import { type LeftOut, leftOutNotes } from './allowed-walk.ts'
import { defineFileTool, FOLDER_FIELD, type Rooted } from './define-file-tool.ts'
import { type FilePlace, refusal } from './file-place.ts'
import { wholeResource } from './file-resources.ts'
import { GLOB_FIELD, locateWalk, type SettledWalk, settledWalk, walkProblem } from './glob-walk.ts'
import { type LineSearchResult, literalSearch, PATTERN_LENGTH_MAX, patternSearch } from './line-search.ts'
import { HITS_MAX, type SearchHit, SearchRun, type SearchSkips } from './search-run.ts'

const CONTEXT_MAX = 10

export type SearchTextArgs = Rooted<{
  readonly pattern?: string
  readonly text?: string
  readonly path?: string
  readonly glob?: string
  readonly context?: number
}>

export type SearchTextValue = LeftOut &
  SearchSkips & { readonly path: string; readonly hits: readonly SearchHit[]; readonly filesSearched: number }

export function searchTextTool(place: FilePlace): Tool {
  return defineFileTool<SearchTextArgs, SearchTextValue>(place, {
    name: 'search_text',
    title: 'Search in files',
    description:
      'Search the text files of the workspace line by line, for a literal `text` or a regular expression `pattern`.',
    returns:
      'Each matching line with its file and number; how many files were searched, left out, or may not be seen by this caller.',
    guidance: {
      useWhen: 'you look for something whose file you do not know',
      limits: `at most ${HITS_MAX} lines and 10 seconds; RE2 patterns (no look-around, no back-references) of up to ${PATTERN_LENGTH_MAX} characters; .git and node_modules are left out unless \`path\` or \`glob\` names them; links are not followed`,
      instead: [
        { tool: 'read_file', because: 'it shows a known file' },
        { tool: 'find_files', because: 'it finds files by their paths' },
      ],
    },
    effect: 'read',
    repeat: 'safe',
    walks: true,
    properties: {
      pattern: {
        type: 'string',
        minLength: 1,
        maxLength: PATTERN_LENGTH_MAX,
        description:
          'Regular expression in RE2 syntax, matched within single lines. `(?i)` at the start ignores letter case.',
      },
      text: {
        type: 'string',
        minLength: 1,
        maxLength: 4_096,
        description: 'Literal text within one line. Give either this or `pattern`.',
      },
      path: {
        ...FOLDER_FIELD,
        description: 'Folder or file to search, relative to the root of the workspace; the root where it is left out.',
      },
      glob: GLOB_FIELD,
      context: {
        type: 'integer',
        minimum: 0,
        maximum: CONTEXT_MAX,
        description: 'How many lines to show before and after each matching one; 0 where it is left out.',
      },
    },
    required: [],
    examples: [{ text: 'createGate(' }, { pattern: '(?i)todo|fixme', glob: '**/*.ts', context: 2 }],
    resolve: (args) => resolved(place, args),
    touches: (args) => [wholeResource('read', settledWalk(place, args).start)],
    run: (args, context) => search(place, args, context),
    present: (value) => ({ content: [textPart(present(value))] }),
  })
}

async function resolved(place: FilePlace, args: SearchTextArgs): Promise<SearchTextArgs | Refusal> {
  // Not in the schema: several model providers take no schema with alternatives at its top.
  if ((args.pattern === undefined) === (args.text === undefined)) {
    return refusal('give exactly one of `pattern` and `text`', 'invalid_args')
  }
  const compiled = await compiledSearch(args)
  if (compiled.kind === 'bad') {
    return refusal(`\`${args.text === undefined ? 'pattern' : 'text'}\`: ${compiled.reason}`, 'invalid_args')
  }
  return locateWalk(place, args)
}

const compiledSearch = async ({ pattern, text }: SearchTextArgs): Promise<LineSearchResult> =>
  text === undefined ? patternSearch(pattern ?? '') : literalSearch(text)

async function search(place: FilePlace, args: SearchTextArgs, context: RunContext) {
  const compiled = await compiledSearch(args)
  if (compiled.kind === 'bad') throw new TypeError('the arguments of this call were not resolved')
  const spot = settledWalk(place, args)
  const run = new SearchRun(compiled, args.context ?? 0, spot, context)
  const failure = isNamedFile(spot) ? await run.file() : (walkProblem(spot) ?? (await run.tree()))
  return failure ?? { path: spot.base.relative, ...run.result() }
}

/** Whether the call names one file, which `touches` has declared, and not a folder to walk. */
function isNamedFile({ base, start }: SettledWalk): boolean {
  const looked = base.folder.look(base.relative)
  return start.relative === base.relative && looked.kind === 'ok' && !looked.stat.isDirectory()
}

function present(value: SearchTextValue): string {
  const { hits, filesSearched, skippedBinary, skippedLarge, cutLines } = value
  const head =
    hits.length === 0
      ? `nothing found in ${filesSearched} files`
      : `${hits.length} matching lines in ${new Set(hits.map(({ path }) => path)).size} of ${filesSearched} files`
  const notes = leftOutNotes(value)
  const skips = [
    skippedBinary > 0 ? `${skippedBinary} binary` : '',
    skippedLarge > 0 ? `${skippedLarge} over 10 MiB` : '',
  ].filter((part) => part !== '')
  return [
    head,
    ...hits.flatMap(hitLines),
    ...notes,
    ...(skips.length > 0 ? [`[not searched: ${skips.join(', ')}]`] : []),
    ...(cutLines > 0 ? [`[of ${cutLines} very long lines only the start was searched]`] : []),
  ].join('\n')
}

function hitLines({ path, line, text, before, after }: SearchHit): readonly string[] {
  const around = (lines: readonly string[], from: number) =>
    lines.map((shown, index) => `${path}-${from + index}- ${shown}`)
  return [
    ...around(before ?? [], line - (before?.length ?? 0)),
    `${path}:${line}: ${text}`,
    ...around(after ?? [], line + 1),
  ]
}
