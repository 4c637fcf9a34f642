import { signal } from '@preact/signals';
import type { JSX } from 'preact';
import { remember, remembered } from '../theme.js';
import { editorLink, editors, placeText, type Editor } from './place.js';

const stored = 'sigma-editor';
const names: Record<Editor, string> = {
  ...{ none: 'no editor', vscode: 'VS Code', jetbrains: 'JetBrains' },
};

const editor = signal<Editor>(editors.find((each) => each === remembered(stored)) ?? 'none');

/** Which editor places open in. */
export function EditorChoice(): JSX.Element {
  return (
    <label class="dim">
      Open in
      <select
        value={editor.value}
        onChange={({ currentTarget }) => {
          editor.value = editors.find((each) => each === currentTarget.value) ?? 'none';
          remember(stored, editor.value);
        }}
      >
        {editors.map((each) => (
          <option key={each} value={each}>
            {names[each]}
          </option>
        ))}
      </select>
    </label>
  );
}

/** A place in the code, which opens in the editor that was chosen. */
export function Place({
  root,
  path,
  line,
  lineEnd = line,
}: {
  root: string;
  path: string;
  line: number;
  lineEnd?: number;
}): JSX.Element {
  const text = placeText(path, line, lineEnd);
  const link = editorLink(editor.value, { root, path, line });
  if (link === undefined) return <code class="place">{text}</code>;
  return (
    <a class="place" href={link} target="_self" title={`Open in ${names[editor.value]}`}>
      <code>{text}</code>
    </a>
  );
}
