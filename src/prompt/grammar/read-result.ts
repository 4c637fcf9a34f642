import type { BusError } from '../../errors/bus-error.js';
import type { ErrorCode } from '../../errors/catalogue.js';

/** `/read` as a tool call with its result: the model sees the file as if it had called the tool. */

export interface ToolUse {
  type: 'tool_use';
  tool: 'read';
  /** As it was written. */
  path: string;
}

export type ToolResult =
  | { type: 'tool_result'; is_error: false; text: string }
  | { type: 'tool_result'; is_error: true; code: ErrorCode; text: string };

/** Access to files; `refused` has one of the codes READ_…. */
export interface FilePort {
  read(path: string): Promise<{ text: string } | { refused: BusError }>;
}

/**
 * The tool call and its result; the error of an unreadable file is a result, too. The text is data: it is never parsed for commands.
 */
export async function readEntries(
  path: string,
  files: FilePort,
): Promise<[use: ToolUse, result: ToolResult]> {
  const answer = await files.read(path);
  const result: ToolResult =
    'text' in answer
      ? { type: 'tool_result', is_error: false, text: answer.text }
      : {
          type: 'tool_result',
          is_error: true,
          code: answer.refused.code,
          text: answer.refused.message,
        };
  return [{ type: 'tool_use', tool: 'read', path }, result];
}
