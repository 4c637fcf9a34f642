// The questions: fixed before anything was run. An answer key is changed only where it is plainly wrong.
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { plainName } from './metrics.mjs';

const read = (name) =>
  JSON.parse(readFileSync(path.join(import.meta.dirname, 'sets', `${name}.json`), 'utf8'));

/** What is reported, by the name that `--only` takes. */
export const reportSets = { self: 'report-self', c: 'report-c', py: 'report-py' };
/** What the calibration is fitted on: other trees, and other questions about this one. */
export const fitSets = [
  ...['fit-self', 'fit-c', 'fit-lua', 'fit-py'],
  ...['fit-curl', 'fit-hg', 'fit-js'],
];

/** `{ name, tree, questions: [{ id, kind, question, answers: [{ path, symbol?, says? }] }] }`: `says` quotes the line that answers. */
export function questionSet(name) {
  const { provenance, questions } = read(name);
  return { name, tree: provenance.tree, questions };
}

/** Questions that nothing in these trees answers: `{ id, tree, question, answers: [] }`. */
export function unanswerable(name, trees) {
  return read(name)
    .questions.filter(({ tree }) => trees.includes(tree))
    .map((each) => ({ ...each, answers: [] }));
}

/**
 * The answers with the lines that they stand in, where the key quotes one; `lost` names those that the tree no
 * longer holds: the key needs a look before the figures mean anything.
 */
export function located(set, root) {
  const lost = [];
  const questions = set.questions.map((question) => ({
    ...question,
    answers: question.answers.map((answer) => {
      const place = path.join(root, answer.path);
      const text = existsSync(place) ? readFileSync(place, 'utf8') : '';
      const line = text.split('\n').findIndex((each) => each.includes(answer.says)) + 1;
      const isThere =
        text !== '' &&
        (answer.symbol === undefined || holdsWord(text, plainName(answer.symbol))) &&
        (answer.says === undefined || line > 0);
      if (!isThere) lost.push(`${question.id}: ${Object.values(answer).join(' · ')}`);
      return answer.says === undefined ? answer : { ...answer, line };
    }),
  }));
  return { ...set, questions, lost };
}

function holdsWord(text, word) {
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1)) {
    const around = `${text[at - 1] ?? ' '}${text[at + word.length] ?? ' '}`;
    if (!/\w/.test(around)) return true;
  }
  return false;
}
