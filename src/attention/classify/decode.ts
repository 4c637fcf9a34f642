import path from 'node:path/posix';
import type { ShellScope } from './shell-scope.js';

/** What programs say that only say or decode: so that what they hand to a shell can be read. */

/** Of a text that is decoded. */
const decodedMax = 256 * 1024;

const saying = new Set([
  'echo',
  'printf',
  'which',
  'command',
  'dirname',
  'basename',
  'pwd',
  'realpath',
  'readlink',
  'print',
  'git',
  ':',
  'true',
  'mktemp',
]);

/** What `mktemp` makes has a name that nobody knows: this one stands for it. */
export const madeByMktemp = '/tmp/.made-by-mktemp';

export function isSaying([program = '', ...rest]: readonly string[]): boolean {
  if (program === 'command') return rest[0] === '-v';
  if (program === 'git') return rest.join(' ') === 'rev-parse --show-toplevel';
  return saying.has(program);
}

/** Undefined: not known. */
export function said(argv: readonly string[], scope: ShellScope): string | undefined {
  const [program = '', ...rest] = argv;
  const plain = rest.filter((word) => !word.startsWith('-'));
  const [first] = plain;
  switch (program) {
    case 'echo':
    case 'print':
      return echoed(rest);
    case 'printf':
      return formatted(rest);
    case 'which':
    case 'command':
      return first;
    case 'mktemp':
      // Below a folder that is named it may be anywhere.
      return rest.some(
        (each) =>
          /^-[a-z]*[pu]|^--(?:tmpdir|dry)|\/(?!tmp\/[^/]*$)/.test(each) &&
          !/^\/tmp\/[^/]*$/.test(each),
      )
        ? undefined
        : madeByMktemp;
    case 'pwd':
      return scope.cwd === '' ? '.' : scope.cwd;
    case 'git':
    case ':':
    case 'true':
      return '';
    case 'dirname':
      return first === undefined ? undefined : path.dirname(first);
    case 'basename':
      return first === undefined ? undefined : path.basename(first, plain[1]);
    default:
      return plain.length === 1 ? first : undefined;
  }
}

function echoed(words: readonly string[]): string {
  let at = 0;
  let options = '';
  while (/^-[neE]+$/.test(words[at] ?? '')) {
    options += words[at] ?? '';
    at += 1;
  }
  const text = words.slice(at).join(' ');
  return `${options.includes('e') ? unescaped(text) : text}${options.includes('n') ? '' : '\n'}`;
}

function formatted(words: readonly string[]): string | undefined {
  const [format, ...values] = words[0] === '--' ? words.slice(1) : words;
  if (format === undefined || format === '-v') return undefined;
  const shape = unescaped(format);
  let text = '';
  let at = 0;
  do {
    const before = at;
    text += shape.replace(/%%|%[-+ 0#]*\d*(?:\.\d+)?([sdbqcxi])/g, (_, kind?: string) => {
      if (kind === undefined) return '%';
      const value = values[at] ?? '';
      at += 1;
      return kind === 'b' ? unescaped(value) : value;
    });
    if (at === before) break;
  } while (at < values.length && text.length < decodedMax);
  return text;
}

function unescaped(text: string): string {
  const signs: Record<string, string> = { n: '\n', t: '\t', r: '\r', a: '', b: '', e: '\x1b' };
  return text.replace(
    /\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{4})|0?([0-7]{1,3})|(.))/gs,
    (_, hex?: string, unicode?: string, octal?: string, other?: string) => {
      if (hex !== undefined) return String.fromCharCode(parseInt(hex, 16));
      if (unicode !== undefined) return String.fromCharCode(parseInt(unicode, 16));
      if (octal !== undefined) return String.fromCharCode(parseInt(octal, 8) % 256);
      return signs[other ?? ''] ?? other ?? '';
    },
  );
}

/** What a filter makes of a text; undefined: not known. */
export function decoded(argv: readonly string[], input: string): string | undefined {
  if (input.length > decodedMax) return undefined;
  const [program = '', ...rest] = argv;
  const words = rest.join(' ');
  switch (program) {
    case 'cat':
    case 'tee':
      return rest.some((word) => !word.startsWith('-')) && program === 'cat' ? undefined : input;
    case 'base64':
    case 'gbase64':
      return /(?:^| )(?:-d|-D|--decode|-di|-id)(?: |$)/.test(words)
        ? fromBase64(input)
        : Buffer.from(input).toString('base64');
    case 'openssl':
      return /^(?:enc )?-?base64 .*-d\b|^enc -d .*-?base64/.test(words)
        ? fromBase64(input)
        : undefined;
    case 'xxd':
      return /-r/.test(words) && /-p|ps/.test(words) ? fromHex(input) : undefined;
    case 'rev':
      return input
        .split('\n')
        .map((line) => Array.from(line).reverse().join(''))
        .join('\n');
    case 'tac':
      return `${input.replace(/\n$/, '').split('\n').reverse().join('\n')}\n`;
    case 'tr':
      return translated(rest, input);
    default:
      return undefined;
  }
}

function fromBase64(text: string): string {
  return Buffer.from(text.replace(/\s/g, ''), 'base64').toString('utf8');
}

function fromHex(text: string): string {
  return Buffer.from(text.replace(/\s/g, ''), 'hex').toString('utf8');
}

function translated(words: readonly string[], input: string): string | undefined {
  const [first = '', second = ''] = words;
  if (first === '-d' && words.length === 2) {
    const gone = new Set(ranged(second));
    return Array.from(input)
      .filter((sign) => !gone.has(sign))
      .join('');
  }
  if (words.length !== 2 || first.startsWith('-')) return undefined;
  const from = ranged(first);
  const to = ranged(second);
  return Array.from(input)
    .map((sign) => {
      const at = from.indexOf(sign);
      return at < 0 ? sign : (to[Math.min(at, to.length - 1)] ?? '');
    })
    .join('');
}

function ranged(set: string): string[] {
  const plain = unescaped(set.replaceAll('[:upper:]', 'A-Z').replaceAll('[:lower:]', 'a-z'));
  return Array.from(
    plain.replace(/(.)-(.)/gs, (_, from: string, to: string) => {
      const [low, high] = [from.charCodeAt(0), to.charCodeAt(0)];
      if (high < low || high - low > 255) return '';
      return String.fromCharCode(
        ...Array.from({ length: high - low + 1 }, (_each, at) => low + at),
      );
    }),
  );
}
