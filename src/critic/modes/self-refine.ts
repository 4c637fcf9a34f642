import { lookAt } from '../checks/all.js';
import { plural } from '../impact/phrases.js';
import { forReader, type Examined, type Mode } from '../mode.js';
import { severities, type Finding, type Section } from '../shapes.js';
import { examinedOf, faultsOf, findingsOf, listed, sectionsOf, told } from './looked.js';

/** A figure that judges the whole: this mode gives none, or the next pass would write for the figure. */
const figure =
  /\b(?:scores?|rating|grade)\b[^.\n]{0,30}?(?<![\w.-])(?:0?\.\d+|1\.0|\d{1,3}\s?%|\d{1,2}(?:\.\d)?\s?\/\s?10)/i;

/** What its author can mend before anybody else reads it. */
export const selfRefine: Mode = {
  name: 'self-refine',
  sections: ['Issue Summary', 'Issue Details', 'Revision Priority', 'Self-Assessment Confidence'],
  text: 'critic-self-refine',

  async examine(input): Promise<Examined> {
    const { read, checked, unable } = await lookAt(input);
    const findings = await findingsOf('self-refine', faultsOf(checked), input, read.isCode);
    const looked = checked
      .filter((each) => each.looked > 0)
      .map(
        ({ looked: all, wrong, faults, what }) =>
          `${Math.max(0, all - (wrong ?? faults.length))} of ${all} ${what}`,
      );
    const left = [...unable, `to judge what the text argues, and whether it is right${forReader}`];
    return examinedOf({
      findings,
      unable: left,
      sections: sectionsOf({
        ...issuesIn(
          findings,
          looked.length === 0
            ? 'Nothing was found, and there was nothing to count.'
            : 'Nothing that was looked at is wrong.',
        ),
        'Self-Assessment Confidence': `${listed(looked, 'There was nothing to count.')}\n\nNot looked at:\n\n${listed(left, '')}`,
      }),
    });
  },

  /** With what a model found besides. */
  retold({ findings }): Section[] {
    return sectionsOf({ 'Issue Summary': countsOf(findings) });
  },

  check({ sections, score }): string[] {
    const scored = sections.find(({ text }) => figure.test(text));
    return [
      ...(score === null ? [] : ['self-refine gives no score']),
      ...(scored === undefined
        ? []
        : [`the section ${scored.title} gives a score; self-refine gives none`]),
    ];
  },
};

/** How many, which, and in which order to mend them. */
function issuesIn(findings: readonly Finding[], none: string): Record<string, string> {
  const first = findings.slice(0, priorityMax).map((each, at) => {
    const where = each.line_start === 0 ? '' : `(line ${each.line_start}, ${each.rule})`;
    return `${at + 1}. ${each.remedy} ${where}`;
  });
  return {
    'Issue Summary': countsOf(findings),
    'Issue Details': listed(findings.map(told), none),
    'Revision Priority': listed(first, 'Nothing to put right by rules.'),
  };
}

function countsOf(findings: readonly Finding[]): string {
  const counts = severities.map((severity) => {
    const count = findings.filter((each) => each.severity === severity).length;
    return `${count} ${severity}`;
  });
  return `${plural(findings.length, 'issue')}: ${counts.join(', ')}.`;
}

const priorityMax = 10;
