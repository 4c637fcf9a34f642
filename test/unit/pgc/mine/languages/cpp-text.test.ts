import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isMark } from '../../../../../src/pgc/mine/languages/cpp/cpp-marks.js';
import { prepared, withConstructors } from '../../../../../src/pgc/mine/languages/cpp/cpp-text.js';

test.each([
  ['class API_EXPORT A {', 'class            A {'],
  ['struct API_EXPORT A final : B {', 'struct            A final : B {'],
  ['API_DECL void f();', '         void f();'],
  ['static API_INLINE a::b<c> * f(int d);', 'static            a::b<c> * f(int d);'],
  ['API_DECL A(int b) : c(b) {}', '         A(int b) : c(b) {}'],
  ['int f() const API_NOEXCEPT {', 'int f() const              {'],
  ['bool operator==(A b) API_PURE;', 'bool operator==(A b)         ;'],
  ['class API_EXPORT API_OLD("b") A : B {', 'class                         A : B {'],
  ['class CAPABILITY("a") A {', 'class                 A {'],
  ['int f() ACQUIRE(a) {', 'int f()            {'],
  ['A b_ GUARDED_BY(c_);', 'A b_               ;'],
  ['A API_CALL f(int a);', 'A          f(int a);'],
  ['API_INLINE a::A::A(int b)', '           a::A::A(int b)'],
  ['API_INLINE A<B>::~A()', '           A<B>::~A()'],
  ['API_INLINE A& operator+=(int b)', '           A& operator+=(int b)'],
  ['API_UNUSED A b = 0;', '           A b = 0;'],
  ['API_DECL void f();\nAPI_DECL A(int b);', '         void f();\n         A(int b);'],
  ['API_FORMAT(1, 2) a::b f(int c);', '                 a::b f(int c);'],
  ['template API_DECL void f<int>();', 'template          void f<int>();'],
  ['[[noreturn]] API_DECL void f();', '[[noreturn]]          void f();'],
  ['void f() { API_TRY { g(); } }', 'void f() {         { g(); } }'],
  ['  CHECK_TYPE(a, int, double);', '  CHECK_TYPE(a, 000, 000000);'],
  ['void f(API_MOVE_ARG(A) a);', 'void f(API_MOVE_ARG    a);'],
  ['typedef API_RESULT(A<B>) c;', 'typedef API_RESULT       c;'],
  ['f(typename a<B>::type* = 0)', 'f(typename a<B>::type  = 0)'],
  ['# if __cplusplus > 201103', '# if __CPLUSPLUS > 201103'],
])('%s loses its mark', (source, expected) => {
  expect(prepared(source)).toBe(expected);
});

test.each([
  ['a type in capitals', 'LARGE_INTEGER size;\nLARGE_INTEGER f(int a);\nLARGE_INTEGER const f(A);'],
  ['a value behind a cast', 'a = (int) MAX_SIZE;'],
  ['a statement behind a head', 'if (a) STOP_HERE;\nwhile (b(c)) NEXT_ONE;'],
  ['a function that gives a type in capitals', 'MY_TYPE A::f(int a);\nMY_TYPE f(A b) {'],
  ['a macro that is called', 'CHECK_IT(a)\nAPI_LOOP(a, b) { }'],
  ['a value of a type in capitals', 'MY_TYPE a = MY_TYPE(b);\nreturn MY_TYPE(a);'],
  ['an argument', 'f(LIMIT_OF(a), MAX_OF(b));'],
  ['a variable of a structure', 'struct POINT_3D a;'],
  ['a constant that is multiplied', 'a = A::b * c;'],
  ['what a program asks for', 'f(__cplusplus);'],
])('%s stays', (_, source) => {
  expect(prepared(source)).toBe(source);
});

test('a semicolon that came between a constructor and its body goes', () => {
  const source = 'class A {\n  A() { }\n  A(int b) : c_(b) { }\n  LOOP(a) { }\n};';
  const passed = 'class A {\n  A();{ }\n  A(int b) : c_(b);{ }\n  LOOP(a);{ }\n};';
  expect(withConstructors(source, passed)).toBe(
    'class A {\n  A() { }\n  A(int b) : c_(b) { }\n  LOOP(a);{ }\n};',
  );
});

test('marks are written in capitals, with an underscore', () => {
  expect(['API_X', 'A1_B', 'API', 'Api_X', '_API_X', 'API_x'].filter(isMark)).toEqual([
    'API_X',
    'A1_B',
  ]);
});

test('every text keeps its length, and its lines', () => {
  const pieces = fc.constantFrom(
    ...[
      '\n',
      ' ',
      'API_X',
      'class ',
      'A',
      '(',
      ')',
      '<',
      '>',
      '::',
      '*',
      '= 0',
      ':',
      ';',
      '{',
      '}',
    ],
    ...['void f', 'const', '~', 'typedef ', '#if ', '__cplusplus'],
  );
  fc.assert(
    fc.property(
      fc.array(pieces, { maxLength: 60 }),
      fc.infiniteStream(fc.boolean()),
      (parts, puts) => {
        const source = parts.join('');
        const plain = prepared(source);
        expect(plain).toHaveLength(source.length);
        expect(plain.split('\n')).toHaveLength(source.split('\n').length);
        // Semicolons that the passes for C put in come out, or stay; nothing else changes.
        const passed = source.replace(/[ {]/g, (sign) => (puts.next().value === true ? ';' : sign));
        const restored = withConstructors(source, passed);
        expect(restored).toHaveLength(source.length);
        for (const [at, sign] of restored.split('').entries())
          expect([source.charAt(at), passed.charAt(at)]).toContain(sign);
        expect(withConstructors(source, source)).toBe(source);
      },
    ),
  );
});
