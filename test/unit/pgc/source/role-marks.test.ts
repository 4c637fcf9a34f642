import { expect, test } from 'vitest';
import { roleMarks } from '../../../../src/pgc/source/role-marks.js';

const marksOf = roleMarks([
  { path: 'api/.gitattributes', text: 'own.go -linguist-generated\n*.json linguist-generated\n' },
  {
    path: '.gitattributes',
    text: [
      '# a comment linguist-generated',
      '*.go text linguist-generated=true',
      '/lib/** linguist-vendored',
      'lib/own.c linguist-vendored=false',
      'lib/any.c !linguist-vendored',
      '"with space.c" linguist-documentation',
      'folder/ linguist-vendored',
      '[broken linguist-vendored',
      '*.md text=auto',
    ].join('\n'),
  },
]);

test.each([
  ['a/b.go', { generated: true }],
  ['api/a.go', { generated: true }],
  ['api/own.go', { generated: false }],
  ['api/deep/a.json', { generated: true }],
  ['a.json', {}],
  ['lib/deep/a.c', { vendored: true }],
  ['lib/own.c', { vendored: false }],
  ['lib/any.c', { vendored: undefined }],
  ['x/lib/a.c', {}],
  ['docs/with space.c', { documentation: true }],
  ['folder/a.c', {}],
  ['a.md', {}],
])('attributes say of %s: %o', (path, marks) => {
  expect(marksOf(path)).toEqual(marks);
});
