import type { Command, Prompt } from '../grammar/shapes.js';
import type { Entry } from './transcript.js';

/** Of the first line of what was left to do. */
const headChars = 120;
export const needsModel =
  'its work needs a language model, and no executor that has one could take it';
const modelWanted =
  'an executor with a language model (SIGMA_MODEL_BASE_URL and SIGMA_MODEL where it is started, or `model` in config.json); then run this again';

/** What there is of a prompt whose work was not done, and what it would need. */
export function undoneText({ content, teardown }: Prompt, entries: readonly Entry[]): string {
  const [head = ''] = content.trim().split('\n');
  const left = [`the content, "${head.slice(0, headChars)}"`, ...teardown.map(lineOf)];
  return [
    'Nothing of the content was done.',
    ...accountOf(entries),
    `Left to do: ${left.join('; ')}.`,
    `Needed: ${modelWanted}.`,
  ].join('\n');
}

/** What a prompt without a model had beside its content: files, those that are missing, and what its tasks came to. */
export function accountOf(entries: readonly Entry[]): string[] {
  const read = entries.flatMap((each) =>
    each.kind === 'setup' && each.name === 'read' && each.failure === null
      ? [String(each.arguments.path)]
      : [],
  );
  const told = entries.flatMap((each) =>
    each.kind === 'gathered' && each.message !== null ? [each.text] : [],
  );
  return [
    ...(read.length === 0 ? [] : [`Read beforehand: ${read.join(', ')}.`]),
    ...unreadIn(entries),
    ...(told.length === 0 ? [] : ['What its tasks came to:', ...told]),
  ];
}

/** Files that the prompt names and that could not be read. */
export function unreadIn(entries: readonly Entry[]): string[] {
  return entries.flatMap((each) =>
    each.kind === 'setup' && each.name === 'read' && each.failure !== null
      ? [`Could not be read: ${String(each.arguments.path)} (${each.failure.text}).`]
      : [],
  );
}

/** A command that was not carried out, in short. */
function lineOf(command: Command): string {
  return `/${command.command} ${command.command === 'push' ? command.name || command.prompt.slice(0, headChars) : ''}`.trim();
}
