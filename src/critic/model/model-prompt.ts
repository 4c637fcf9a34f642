import { fencedData } from '../../model/fenced.js';
import type { Message } from '../../model/conversation.js';
import { filled, textOf, type TextName } from '../../model/texts.js';
import type { EarlierReport, Examined, Mode, ModeInput } from '../mode.js';
import { unscored } from '../score/scoring.js';
import { withoutSecrets } from '../artifact/secrets.js';
import type { Finding } from '../shapes.js';

/** Of what others found; the worst come first. */
const findingsToldMax = 60;
const reportCharsMax = 6_000;
const rulesCharsMax = 60_000;

/** The texts that a review in a mode is made of. */
export function textsOf(mode: Mode): TextName[] {
  return ['critic-frame', mode.text, 'data-fence'];
}

/**
 * The prompt of a mode. All foreign text stands between marks. Of earlier reports it has findings and sections, no scores;
 * reports of modes that score are left out.
 */
export function promptOf(
  mode: Mode,
  input: ModeInput,
  examined: Examined,
  mark: string,
): Message[] {
  const scores =
    mode.dimensions === undefined
      ? 'This mode scores nothing: `scores` is empty.'
      : `\`scores\` has an entry for each of: ${mode.dimensions.map(({ name }) => name).join(', ')}.`;
  const sections = mode.sections
    .map((title) =>
      mode.optionalSections?.includes(title) ? `${title} (if there is something to say)` : title,
    )
    .join('; ');
  const system = filled('critic-frame', { sections, scores, mode: textOf(mode.text).text });
  const data = (what: string, text: string): string[] =>
    text === '' ? [] : [fencedData(mark, what, text)];
  const { artifact, context } = input;
  const user = [
    `Review in the mode ${mode.name}. Criticality ${context.criticality}, phase ${context.phase}, kind ${context.target_type}.`,
    ...data('the criteria of the request', input.criteria ?? ''),
    ...data('the rules to hold it against', rulesOf(input)),
    ...data('what the rules of this program have found', toldFindings(examined.findings)),
    ...data('what it could not do', examined.unable.join('\n')),
    ...data('what earlier modes have said', earlier(unscored(input.before))),
    ...data(`the artifact, ${artifact.path.replace(/\s+/g, ' ').slice(0, 200)}`, artifact.text),
  ].join('\n\n');
  return [
    { role: 'system', text: system },
    // A secret in a text is not sent on.
    { role: 'user', text: withoutSecrets(user) },
  ];
}

function rulesOf({ rules }: ModeInput): string {
  return rules
    .map(({ path, text }) => `${path}\n\n${text}`)
    .join('\n\n')
    .slice(0, rulesCharsMax);
}

function toldFindings(findings: readonly Finding[]): string {
  return findings
    .slice(0, findingsToldMax)
    .map(
      ({ severity, rule, line_start, text }) =>
        `- ${severity} ${rule}, line ${line_start}: ${text}`,
    )
    .join('\n');
}

function earlier(reports: readonly EarlierReport[]): string {
  return reports
    .map(({ mode, findings, sections }) =>
      [
        `# ${mode}`,
        toldFindings(findings),
        ...sections.map(({ title, text }) => `## ${title}\n${text}`),
      ]
        .join('\n\n')
        .slice(0, reportCharsMax),
    )
    .join('\n\n');
}
