import path from 'node:path/posix';
import type { Arguments } from './command-pattern.js';
import type { Examination, Spot } from './examination.js';
import type { Word } from './shell.js';

/** What is sent over HTTP: to people (HumanCommunication), or to programs (ExternalMutation). */

const sendingFlags = [
  '-d',
  '--data',
  '--data-raw',
  '--data-binary',
  '--data-urlencode',
  '--data-ascii',
  '--json',
  '-F',
  '--form',
  '--form-string',
  '-T',
  '--upload-file',
  '--post-data',
  '--post-file',
  '--body-data',
  '--body-file',
  '--raw',
];
const methodFlags = ['-X', '--request', '--method'];
/** What is deleted there was put there to try something. */
const thisMachine =
  /^(?:https?:\/\/)?(?:localhost|127\.\d+\.\d+\.\d+|\[?::1\]?|0\.0\.0\.0)(?::\d+)?(?:\/|$|\?)|^:\d*\/|^[A-Za-z]+$/;
const reading = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE', 'PROPFIND']);

export function httpEffects(
  words: readonly Word[],
  given: Arguments,
  exam: Examination,
  spot: Spot,
): void {
  const program = given.operands[0]?.text ?? '';
  const isForge = (program === 'gh' || program === 'glab') && given.operands[1]?.text === 'api';
  if (!exam.policy.http.clients.includes(program) && !isForge) return;
  const method = methodOf(given, program);
  const urls = urlsOf(given, isForge ? program : '');
  rememberDownloads(program, given, urls, exam, spot);
  if (given.flags.has('-K') || given.flags.has('--config'))
    exam.opaque('hidden-request', words, spot, 'its request stands in a file');
  const isHuman = urls.some((url) => exam.book.human.some((pattern) => pattern.test(url)));
  const isSent = urls.some((url) => /\/(?:send\w*|chat\.post\w*)\b/i.test(url));
  const [target = ''] = urls;
  if (isHuman && (!reading.has(method) || isSent || given.flags.has('--mail-rcpt')))
    exam.found({
      ...{ signal: 'HumanCommunication', rule: 'http-to-people', words, spot },
      ...{ irreversible: true, target, says: 'reaches people' },
    });
  else if (!reading.has(method) && !isForge) {
    const isDelete = method === 'DELETE' && !urls.every((url) => thisMachine.test(url));
    exam.found({
      ...{ signal: 'ExternalMutation', rule: 'http-writes', words, spot, target },
      ...{ says: `sends ${method}`, irreversible: isDelete },
    });
    if (isDelete)
      exam.found({
        ...{ signal: 'Irreversibility', rule: 'http-deletes', words, spot, target },
        says: 'deletes on another machine',
      });
  }
}

function methodOf(given: Arguments, program: string): string {
  for (const flag of methodFlags) {
    const value = given.flags.get(flag)?.at(-1);
    if (value !== undefined && value !== '') return value.toUpperCase();
  }
  if (/^(?:xhs?|https?|httpie|curlie)$/.test(program)) {
    const [, first] = given.operands;
    if (first !== undefined && /^[A-Za-z]+$/.test(first.text) && given.operands.length > 2)
      return first.text.toUpperCase();
    const isSending = given.operands
      .slice(2)
      .some(({ text }) => /^[^=:/?]+(?::=|=(?!=)|@)/.test(text));
    if (isSending) return 'POST';
  }
  if (program === 'gh' || program === 'glab')
    return ['-f', '--raw-field', '-F', '--field', '--input'].some((flag) => given.flags.has(flag))
      ? 'POST'
      : 'GET';
  if (given.flags.has('-G') || given.flags.has('--get')) return 'GET';
  if (given.flags.has('-T') || given.flags.has('--upload-file')) return 'PUT';
  if (given.flags.has('--mail-rcpt')) return 'POST';
  return sendingFlags.some((flag) => given.flags.has(flag)) ? 'POST' : 'GET';
}

function urlsOf(given: Arguments, forge: string): string[] {
  if (forge !== '') {
    const host = forge === 'gh' ? 'https://api.github.com/' : 'https://gitlab.com/api/v4/';
    return given.operands.slice(2).map(({ text }) => host + text.replace(/^\//, ''));
  }
  return [...given.operands.slice(1).map(({ text }) => text), ...(given.flags.get('--url') ?? [])];
}

/** What comes from elsewhere is not what lay there before. */
function rememberDownloads(
  program: string,
  given: Arguments,
  urls: readonly string[],
  exam: Examination,
  spot: Spot,
): void {
  const named = ['-o', '--output', '-O', '--output-document'].flatMap(
    (flag) => given.flags.get(flag) ?? [],
  );
  const isNamedByUrl =
    program === 'wget' || given.flags.has('-O') || given.flags.has('--remote-name');
  const byUrl = isNamedByUrl ? urls.map((url) => path.basename(url.replace(/[?#].*/, ''))) : [];
  for (const name of [...named, ...byUrl].filter((each) => each !== '')) {
    const place = exam.place(name, spot);
    if (place.kind !== 'unknown') exam.written.set(place.path, undefined);
  }
}
