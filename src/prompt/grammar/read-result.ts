import type { BusError } from '../../errors/bus-error.js';
import type { ErrorCode } from '../../errors/catalogue.js';

/** `/read` as a round trip of a tool: the model sees a file as if it had asked for it, and nobody is asked. */

export interface ToolUse {
  type: 'tool_use';
  tool: 'read';
  /** As it was written. */
  path: string;
}

export type ToolResult =
  | { type: 'tool_result'; is_error: false; text: string }
  | { type: 'tool_result'; is_error: true; code: ErrorCode; text: string };

/** Reads files for whoever may not: `refused` is one of the codes READ_…. */
export interface FilePort {
  read(path: string): Promise<{ text: string } | { refused: BusError }>;
}

/**
 * A call and its result, whatever the file is: one that cannot be read is the result, as it would be for a model that asked.
 * The text is data. It is never parsed for commands, whatever lines it begins or ends with.
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
