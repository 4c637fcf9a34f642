import type { JSX } from 'preact';
import { Badge, type Tone } from '../../parts/badge.js';

interface Finding {
  id: string;
  severity: string;
  text: string;
  remedy: string;
  rule: string;
  is_hard: boolean;
  line_start?: number;
  modes?: readonly string[];
  evidence?: readonly { file_path: string; line_start: number; content: string }[];
}

const tones: Readonly<Record<string, Tone>> = {
  critical: 'bad',
  major: 'warn',
  minor: 'plain',
  note: 'plain',
};

/** Worst first, as they come. */
export function Findings({ findings }: { findings: readonly Finding[] }): JSX.Element | null {
  if (findings.length === 0) return <p class="dim">Nothing was found.</p>;
  return (
    <ul class="plain findings">
      {findings.map(
        ({ id, severity, text, remedy, rule, is_hard, line_start = 0, modes, evidence }) => (
          <li key={id}>
            <div class="row">
              <Badge tone={tones[severity] ?? 'plain'}>{severity}</Badge>
              {is_hard && <Badge tone="bad">hard rule</Badge>}
              <code>{rule}</code>
              {line_start > 0 && <span class="dim">line {line_start}</span>}
              {modes !== undefined && <span class="dim">{modes.join(', ')}</span>}
            </div>
            <p>{text}</p>
            {remedy !== '' && <p class="dim">{remedy}</p>}
            {(evidence ?? []).map((each) => (
              <div key={`${each.file_path} ${each.line_start}`}>
                <span class="mono small">
                  {each.file_path}:{each.line_start}
                </span>
                <pre class="text">{each.content}</pre>
              </div>
            ))}
          </li>
        ),
      )}
    </ul>
  );
}
