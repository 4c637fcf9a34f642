import type { Reading, Word } from '../policy/command-pattern.js';
import { unknownEnvironment } from '../shapes.js';
import { environmentOf } from './environment.js';
import type { Examination, Site } from './examination.js';

/** What is sent over HTTP: to people (HumanCommunication), or to programs (ExternalMutation). */

const sendingOptions = [
  ...['-d', '--data', '--data-raw', '--data-binary', '--data-urlencode', '--json', '-F', '--form'],
  ...['-T', '--upload-file', '--post-data', '--post-file', '--body-data', '--body-file'],
];
const reading = new Set(['GET', 'HEAD', 'OPTIONS']);
const clients = new Set(['curl', 'wget', 'http', 'https', 'xh', 'xhs']);
const thisMachine = /^(?:https?:\/\/)?(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])(?::\d+)?(?:[/?]|$)/;
const plainUrl =
  /^(?:https?:\/\/)?(?!(?:ftp|dict|ldap|imap|pop3|smtp)\.)(?:[\w.-]*[a-z][\w-]*\.[\w.-]*[a-z]|\d+(?:\.\d+){3}|localhost)(?::\d+)?(?:\/[\w./%~@+-]*)?$/i;
/** In a path, words of what changes something even when it is only read. */
const changingWord =
  /(?:^|[/._-])(?:delete|remove|purge|destroy|drop|reset|clear|send\w*|trigger|deploy|publish|approve|cancel|confirm|unsubscribe|logout|shutdown|restart|stop|start|run|execute|invoke|webhooks?|hooks?|ping)(?=$|[/._?-])/i;

const methodName = /^[A-Za-z]+$/;

/** What is found of a request is added; the answer is why it cannot be judged, if it cannot. */
export function requestEffects(
  words: readonly Word[],
  given: Reading,
  exam: Examination,
  site: Site,
): string | undefined {
  const program = given.operands[0]?.text ?? '';
  if (!clients.has(program)) return undefined;
  // httpie and its like send what they are given on standard input.
  const isFed =
    isHttpie(program) && site.input.kind !== 'none' && !given.options.has('--ignore-stdin');
  const method = isFed ? 'POST' : methodOf(given, program);
  const urls = urlsOf(given);
  const [target = ''] = urls;
  const isHuman = urls.some((url) => exam.book.human.some((pattern) => pattern.test(url)));
  const isReading = reading.has(method);
  if (isHuman && (!isReading || urls.some((url) => changingWord.test(url)))) {
    const says = 'people read it';
    exam.found({
      ...{ signal: 'HumanCommunication', rule: 'http-to-people', words, site, target, says },
      irreversible: true,
    });
    return undefined;
  }
  // With -G curl puts the data behind the address.
  const isQuery = given.options.has('-G') || given.options.has('--get');
  if (isQuery && sendingOptions.some((option) => given.options.has(option)))
    return 'a request with parameters may change something';
  if (isReading && isHttpie(program) && itemsOf(given).length > 0)
    return 'a request with parameters may change something';
  if (isReading) return urls.map(readingRisk).find((risk) => risk !== undefined);
  const isElsewhere = !urls.every((url) => thisMachine.test(url));
  const isDelete = method === 'DELETE' && isElsewhere;
  exam.found({
    ...{ signal: 'ExternalMutation', rule: 'http-writes', words, site, target },
    ...{ says: `sends ${method}`, irreversible: isDelete },
  });
  if (isDelete)
    exam.found({
      ...{ signal: 'Irreversibility', rule: 'http-deletes', words, site, target },
      says: 'deletes on another machine',
    });
  const signs = { words: urls, variables: exam.variables, isLocal: false };
  const isKnown = environmentOf(signs, exam.policy.environments) !== unknownEnvironment;
  const isNamed = urls.some((url) => changingWord.test(pathOf(url)));
  return isKnown && !isNamed ? undefined : 'what this service does with it is not known';
}

/** A read with parameters, or of an address that names a change, may be one. */
function readingRisk(url: string): string | undefined {
  const isHere = thisMachine.test(url);
  const path = isHere ? url.replace(/[?#].*$/s, '') : url;
  if (!plainUrl.test(path)) return 'a request with parameters may change something';
  return changingWord.test(pathOf(path)) ? 'its address names a change' : undefined;
}

/** Behind the host. */
function pathOf(url: string): string {
  return url.replace(/^(?:https?:\/\/)?[^/]*/, '');
}

function isHttpie(program: string): boolean {
  return program !== 'curl' && program !== 'wget';
}

/** What httpie and its like are given behind the method and the address. */
function itemsOf({ operands: [, ...given] }: Reading): string[] {
  const texts = given.map(({ text }) => text);
  return texts.slice(texts.length > 1 && methodName.test(texts[0] ?? '') ? 2 : 1);
}

function methodOf(given: Reading, program: string): string {
  const named = ['-X', '--request', '--method']
    .flatMap((each) => given.options.get(each) ?? [])
    .map(({ text }) => text.toUpperCase());
  // The last one on the line wins, and their order is not kept: several are as good as unknown.
  if (named.length > 1) return 'SEVERAL';
  const sends = sendingOptions.some((option) => given.options.has(option));
  const [stated = ''] = named;
  if (stated !== '' && !(sends && stated === 'GET')) return stated;
  const [, first, address] = given.operands;
  if (isHttpie(program) && first !== undefined && address !== undefined)
    if (methodName.test(first.text)) return first.text.toUpperCase();
  if (isHttpie(program) && itemsOf(given).some((text) => /^[^=:/?]+(?::=|=(?!=)|@)/.test(text)))
    return 'POST';
  if (given.options.has('-T') || given.options.has('--upload-file')) return 'PUT';
  return sends ? 'POST' : 'GET';
}

function urlsOf(given: Reading): string[] {
  const [, ...operands] = given.operands.map(({ text }) => text);
  const named = operands.filter((text) => !/^[A-Z]+$/.test(text) && !/^[\w-]+:?=/.test(text));
  return [...named, ...(given.options.get('--url') ?? []).map(({ text }) => text)];
}
