import { nothingGathered } from '../../delegation/grounding/gathered.js';
import { parseJson } from '../../delegation/task/json.js';
import { readResponse } from '../../delegation/task/response.js';
import type { EvidenceCitation } from '../../delegation/task/shapes.js';
import { type Outcome, outcome } from '../../delegation/worker/runner-outcome.js';
import { questionIn } from '../../delegation/worker/task-prompt.js';
import { asBusError, BusError, type ErrorData } from '../../errors/bus-error.js';
import type { ErrorCode } from '../../errors/catalogue.js';
import type { ChildEnd } from '../guarded-child.js';
import { endOf } from './command.js';

/** What an agent printed, read. `sources`: those of its prompt, by their numbers from 1. */
export function outcomeOf(
  program: string,
  end: ChildEnd,
  sources: readonly EvidenceCitation[],
): Outcome {
  const failed = endOf(end);
  if (failed !== '') {
    const stderr = end.stderr === '' ? '' : `--- stderr\n${end.stderr}`;
    const result = [end.stdout, stderr].filter((each) => each !== '').join('\n');
    return failure(result, 'ACTION_FAILED', { program, detail: failed });
  }
  const question = questionIn(end.stdout);
  if (question !== '') return outcome('asked', { question });
  const answer = jsonIn(end.stdout);
  if (answer === undefined) return inWords(end, sources);
  const said = end.stdout.trim();
  const value = parseJson(answer);
  if ('task_id' in value && 'status' in value)
    try {
      return structured(value);
    } catch (error) {
      const { code, detail } = refusalIn(error);
      return failure(said, code, { detail: `the answer of ${program}: ${detail}` });
    }
  if (isWhole(answer)) return inWords(end, sources);
  const detail =
    end.stdoutCut > 0
      ? `the JSON of ${program} is longer than it may be, by ${end.stdoutCut} bytes`
      : `the JSON of ${program} does not come to its end`;
  return failure(said, 'MALFORMED_PAYLOAD', { detail });
}

function failure(result: string, known: ErrorCode, data: ErrorData): Outcome {
  const { code, message: text, retryable } = new BusError(known, data);
  return outcome('failed', { result, reason: code, errors: [{ code, text, retryable }] });
}

function refusalIn(error: unknown): { code: ErrorCode; detail: string } {
  const { code, data } = asBusError(error);
  const { detail = code } = data as { detail?: string };
  return { code: code as ErrorCode, detail };
}

/**
 * The response in an output: alone, in a block of Markdown, or behind what the agent said first. Undefined: it speaks in words. One
 * that is cut off is a response all the same: half of it must not pass for words.
 */
function jsonIn(stdout: string): string | undefined {
  const text = stdout.trim();
  if (/^\{\s*"/.test(text)) return text;
  const blocks = [...text.matchAll(/^```(?:json)?[ \t]*\n(\{[^]*?)(?:\n```|$(?![^]))/gm)];
  const block = blocks.map(([, each = '']) => each.trim()).findLast(isOfProtocol);
  const from = text.search(/^\{\s*"/m);
  const rest = from < 0 ? '' : text.slice(from);
  return block ?? (isOfProtocol(rest) ? rest : undefined);
}

function isOfProtocol(text: string): boolean {
  return /^\{[^]*"task_id"\s*:/.test(text) && /"status"\s*:/.test(text);
}

function isWhole(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Words rest on the sources whose numbers they name. */
function inWords({ stdout, stdoutCut }: ChildEnd, sources: readonly EvidenceCitation[]): Outcome {
  const said = stdout.trim();
  const result = stdoutCut === 0 ? said : `${said}\n… ${stdoutCut} bytes more were cut`;
  const numbers = [...said.matchAll(/\[(\d{1,3})\]/g)].map(([, number]) => Number(number));
  const cited = [...new Set(numbers)].flatMap((number) => sources[number - 1] ?? []);
  return outcome('finished', { result, cited, isOwnWords: true });
}

/** It speaks the protocol itself; whose task it is was never its to say. Throws MALFORMED_PAYLOAD. */
function structured(value: object): Outcome {
  const response = readResponse(value);
  const { status, result, errors, files_modified: files, clarification_request } = response;
  const evidence = response.grounding_evidence;
  const gathered =
    evidence === null
      ? null
      : {
          ...nothingGathered,
          queries: evidence.queries_executed,
          overlays: evidence.overlays_consulted,
          warnings: evidence.overlay_warnings,
        };
  // How near each is to the question, the PGC says.
  const cited = (evidence?.citations ?? []).map(({ similarity: _, ...each }) => each);
  const said = { result, errors, files, gathered, cited, isOwnWords: true };
  if (status === 'completed') return outcome('finished', said);
  if (status === 'needs_clarification')
    return outcome('asked', { ...said, question: clarification_request });
  return outcome(status, { ...said, reason: response.reason });
}
