// The built-in file tools, put together for one workspace.

import type { Tool } from '../../../describe/tool.ts'
import { deleteFileTool } from './delete-file.ts'
import { editFileTool } from './edit-file.ts'
import type { FilePlace } from './file-place.ts'
import { findFilesTool } from './find-files.ts'
import { listDirTool } from './list-dir.ts'
import { moveFileTool } from './move-file.ts'
import { readFileTool } from './read-file.ts'
import { searchTextTool } from './search-text.ts'
import { undoChangeTool } from './undo-change.ts'
import { writeFileTool } from './write-file.ts'

export const fileTools = (place: FilePlace): readonly Tool[] => [
  readFileTool(place),
  listDirTool(place),
  findFilesTool(place),
  searchTextTool(place),
  writeFileTool(place),
  editFileTool(place),
  moveFileTool(place),
  deleteFileTool(place),
  undoChangeTool(place),
]
