import { checksOf } from './rule-forms.js';
import type { Rule } from './rule.js';

/** One a line; what is beyond is not judged, and said so. */
const criteriaMax = 50;

/**
 * Criteria of a request, one a line, with or without the mark of a list. `required_section: Rollback`,
 * `pattern: …`, `absent: …`, `max_lines: 300`, `path_glob: …` can be checked; all else is for a reader.
 */
export function readCriteria(criteria: string): { rules: Rule[]; left: number } {
  const lines = criteria
    .split('\n')
    .map((text, at) => ({
      text: text.replace(/^\s*(?:[-*+]|\d+[.)])?\s*(?:\[[ xX]\]\s)?/, '').trim(),
      line: at + 1,
    }))
    .filter(({ text }) => /[\p{L}\p{N}]/u.test(text));
  const rules = lines.slice(0, criteriaMax).map(({ text, line }): Rule => {
    const [, key = '', value = ''] =
      /^(required_section|pattern|absent|max_lines|path_glob):\s*(.+)$/.exec(text) ?? [];
    const checks =
      key === '' ? [] : checksOf({ [key]: key === 'max_lines' ? Number(value) : value });
    return {
      ...{ id: `criterion ${line}`, level: 'HARD', text, file: 'criteria', line },
      // One that cannot be read is for a reader, too: it is never met unseen.
      checks: typeof checks === 'string' ? [] : checks,
      ...{ appliesTo: [], isGovernance: false },
    };
  });
  return { rules, left: Math.max(0, lines.length - criteriaMax) };
}
