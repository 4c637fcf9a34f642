import { withoutPrivateKeys } from '../../../base/private-key.js';
import { cutAtWord } from '../../../base/text.js';
import { withoutIssued } from '../../../secrets/secrets.js';

const redacted = '[redacted]';

/** Stands in every text that names a credential: most need not be read closer. */
const mark =
  /passw|pwd|secret|token|key|credential|authorization|bearer|:\/\/|(?<![\w+/])[\w+/]{60}/i;

/** Names of secrets as code, settings and commands write them. */
const secret =
  '(?:passw(?:or)?d|passphrase|\\wpwd|secret|token|credentials?|api[_-]?key|access[_-]?key|auth[_-]?key|private[_-]?key|secret[_-]?key)';

/** Not of a variable, a placeholder or a call, which tell nothing. */
const value = '(?![$<{[%(])(?![\\w.>-]{0,80}\\()';

/** What stands behind the mark of a secret. */
const credentials: readonly RegExp[] = [
  // A line of a key, or of a certificate, whose first line may be far above.
  /(?<=^[\s"'`#*>|]{0,20})(?=\S*[a-z])(?=\S*[A-Z])(?=\S*\d)[A-Za-z0-9+/]{60,76}={0,2}(?=(?:[\s"'`+,]|\\[nr]){0,20}$)/gm,
  /(?<=\bauthorization["']?\s?[:=]\s?["']?(?:\w{1,12}\s)?)(?![$<{])[\w.~+/=-]{8,}/gi,
  /(?<=\bbearer\s)(?![$<{])(?=[\w.~+/=-]*\d)[\w.~+/=-]{8,}/gi,
  // A literal, also one that is compared with.
  new RegExp(
    `(?<=${secret}["']?\\)?\\s?(?:[:=]{1,3}|,|!=|\\.equals\\()\\s?)(["'])(?![$<{%])[^"'\\s]{6,}\\1`,
    'gi',
  ),
  // Settings: a value with a digit in it is no word.
  new RegExp(`(?<=${secret}["']?\\s?[:=]\\s?["']?)${value}(?=[^\\s"']*\\d)[^\\s"']{8,}`, 'gi'),
  new RegExp(
    `(?<=\\b\\w{0,60}(?:PASSWORD|PASSWD|PASSPHRASE|SECRET|TOKEN|(?:API|ACCESS|PRIVATE|SECRET)_KEY)=["']?)${value}[^\\s"']{6,}`,
    'g',
  ),
  new RegExp(`(?<=--?${secret}[= ]["']?)(?!-)${value}[^\\s"']{6,}`, 'gi'),
  // A password in an address: `https://name:password@host`.
  /(?<=:\/\/[^\s/:@]{0,60}:)(?![$<{])[^\s/@]{3,}(?=@)/g,
];

/** Characters that are read for each that is wanted: redaction makes a text shorter. */
const lookedShare = 4;

/** The beginning of a text without the credentials that it shows, at most so many characters. */
export function beginningWithout(text: string, charsMax: number): string {
  return withoutCredentials(cutAtWord(text, lookedShare * charsMax)).slice(0, charsMax);
}

/** A text without the credentials that it shows, of at most some thousand characters. */
export function withoutCredentials(text: string): string {
  const known = withoutIssued(withoutPrivateKeys(text, redacted), redacted);
  if (!mark.test(known)) return known;
  return credentials.reduce((shown, each) => shown.replace(each, redacted), known);
}
