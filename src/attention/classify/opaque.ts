import { partsOf } from '../policy/allow.js';
import { programName, type Reading, type Word } from '../policy/command-pattern.js';
import type { OpaqueRow } from '../policy/policy.js';
import type { Examination, Site } from './examination.js';

/**
 * A command of which no table says what it does: a policy of a person allows it, or a person is asked. The files that it runs, as
 * far as its row or its words name them, become part of the digest. `unlisted`: what of it is in no row; `isOwn`: a program of
 * the tree.
 */
export async function opaqueEffects(
  words: readonly Word[],
  given: Reading,
  unlisted: string | undefined,
  exam: Examination,
  site: Site,
  isOwn: boolean,
): Promise<void> {
  const row = exam.book.opaqueRow(given);
  const runs = [...words.flatMap(({ text }) => partsOf(text)), ...(row?.files ?? [])];
  const isOfAction = await exam.hasWritten(runs, site);
  // Who allowed the command knew the file as it lies in the tree.
  if (!isOfAction && (await exam.isAllowed(words, site))) return;
  const name = programName(words[0]?.text ?? '');
  if (exam.isLookedAtLater && !isOfAction && isJudgedLater(words, row, exam, site, isOwn))
    return exam.step(`${name} is judged where its files are`);
  const file = await boundFiles(words, row, exam, site, isOwn);
  const why = reasonOf(name, row, unlisted, isOwn);
  if (words.some(({ isStatic }) => !isStatic))
    return exam.opaque('hidden-argument', words, site, `${why}; its arguments are not all known`);
  if (isOfAction)
    return exam.opaque('written-file', words, site, `${why}; the same action writes what it runs`);
  const rule = isOwn ? 'opaque-program' : row === undefined ? 'unknown-program' : 'opaque-command';
  exam.opaqueCommand(unlisted === undefined ? rule : 'unlisted', words, site, why, file);
}

function reasonOf(
  name: string,
  row: OpaqueRow | undefined,
  unlisted: string | undefined,
  isOwn: boolean,
): string {
  if (isOwn) return `what this program called ${name} does is not known`;
  const known =
    row === undefined
      ? `no table says that ${name} is harmless when it is used like this`
      : `${name} ${row.reason}`;
  return unlisted === undefined ? known : `${known} (${unlisted})`;
}

/** Without files its scripts are left to the executor, which reads them; code in its arguments is not. */
function isJudgedLater(
  words: readonly Word[],
  row: OpaqueRow | undefined,
  exam: Examination,
  site: Site,
  isOwn: boolean,
): boolean {
  if (isOwn) return exam.place(words[0]?.text ?? '', site).kind === 'inside';
  if (row === undefined || words.some(({ isStatic }) => !isStatic)) return false;
  const isCode = words.some(({ text }) =>
    (row.code ?? []).some((option) => text === option || text.startsWith(`${option}=`)),
  );
  if (isCode) return false;
  if (row.files !== undefined) return true;
  const names = words.slice(1).filter(({ text }) => /^[\w.][\w./@+-]*$/.test(text));
  return row.scripts === true && names.some(({ text }) => exam.place(text, site).kind === 'inside');
}

/** The first file that it runs; empty: none that can be read. */
async function boundFiles(
  words: readonly Word[],
  row: OpaqueRow | undefined,
  exam: Examination,
  site: Site,
  isOwn: boolean,
): Promise<string> {
  const names: string[] = [];
  if (isOwn || row?.scripts === true) {
    const given = words.slice(isOwn ? 0 : 1).filter(({ isStatic }) => isStatic);
    for (const { text } of given) names.push(text.replace(/^-[^=]*=/, ''));
    const { input } = site;
    if (input.kind === 'unread' && input.file?.isStatic === true) names.push(input.file.text);
  }
  const bound: string[] = [];
  for (const name of [...names, ...(row?.files ?? [])]) {
    const path = /^[^-\n][^\n]*$/.test(name) ? await exam.bind(name, site) : undefined;
    if (path !== undefined) bound.push(path);
  }
  return bound[0] ?? '';
}
