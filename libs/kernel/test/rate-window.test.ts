import { RateWindow } from '../src/http/rate-window.js';

function setUp(limit: number, at = 0) {
  const clock = { now: at };
  return { clock, window: new RateWindow(limit, () => clock.now) };
}

test('requests are counted down to zero, and those beyond are exceeded', () => {
  const { window } = setUp(3);
  const states = Array.from({ length: 5 }, () => window.hit('a'));
  expect(states.map(({ remaining, exceeded }) => [remaining, exceeded])).toEqual([
    [2, false],
    [1, false],
    [0, false],
    [0, true],
    [0, true],
  ]);
  expect(states[0]).toEqual({ limit: 3, remaining: 2, reset: 60, exceeded: false });
});

test('every identity has a count of its own', () => {
  const { window } = setUp(1);
  expect(window.hit('a').exceeded).toBe(false);
  expect(window.hit('b').exceeded).toBe(false);
  expect(window.hit('a').exceeded).toBe(true);
});

test('a new window starts after 60 seconds, not a moment before', () => {
  const { clock, window } = setUp(1);
  window.hit('a');
  clock.now = 59_999;
  expect(window.hit('a')).toMatchObject({ exceeded: true, reset: 1 });
  clock.now = 60_000;
  expect(window.hit('a')).toMatchObject({ exceeded: false, reset: 60 });
});

test('waiting as long as reset says is always enough', () => {
  for (let at = 0; at < 180_000; at += 777) {
    const { clock, window } = setUp(1, at);
    window.hit('a');
    const { reset } = window.hit('a');
    expect(reset).toBeGreaterThanOrEqual(1);
    expect(reset).toBeLessThanOrEqual(60);
    clock.now += reset * 1000;
    expect(window.hit('a').exceeded).toBe(false);
  }
});

test('windows keep their rhythm over quiet hours', () => {
  const { clock, window } = setUp(1, 10_000);
  window.hit('a');
  clock.now = 3_600_000 + 15_000;
  expect(window.hit('a')).toMatchObject({ exceeded: false, reset: 45 });
});

test('no second of a window lets more through than the limit, and no minute more than twice of it', () => {
  const { clock, window } = setUp(600);
  const passed: number[] = [];
  for (clock.now = 0; clock.now < 300_000; clock.now += 10) {
    if (!window.hit('a').exceeded) passed.push(clock.now);
  }
  for (let from = 0; from < 240_000; from += 1_000) {
    const inMinute = passed.filter((at) => at >= from && at < from + 60_000);
    expect(inMinute.length).toBeLessThanOrEqual(1_200);
  }
  expect(passed).toHaveLength(3_000);
});
