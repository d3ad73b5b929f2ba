import { setTimeout as sleep } from 'node:timers/promises';
import { WakeHub } from '../src/wake/wake-hub.js';

let hub: WakeHub;
let told: (readonly string[])[];
beforeEach(() => {
  hub = new WakeHub();
  told = [];
  hub.onWake = (topics) => void told.push(topics);
});

function waiterOf(...topics: string[]) {
  const waiter = hub.waiter();
  for (const topic of topics) waiter.add(topic);
  return waiter;
}
const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
/** How many topics the hub remembers: it must forget those that nobody waits for. */
const remembered = () => (Reflect.get(hub, 'topics') as Map<string, unknown>).size;

test('a wake ends the wait of everybody on its topic, and of nobody else', async () => {
  const [one, two, other] = [waiterOf('room:1'), waiterOf('room:2', 'room:1'), waiterOf('room:2')];
  const waits = [one.wait(5_000), two.wait(5_000), other.wait(30)];
  hub.wake(['room:1']);
  expect(await Promise.all(waits)).toEqual(['woken', 'woken', 'timeout']);
});

test('a wake between the subscription and the wait is not lost', async () => {
  const waiter = waiterOf('room:1');
  hub.wake(['room:1']);
  expect(await waiter.wait(5_000)).toBe('woken');
  // One look is owed for it, not two.
  expect(await waiter.wait(10)).toBe('timeout');
});

test('a wake before the subscription is none: whoever subscribes looks afterwards', async () => {
  hub.wake(['room:1']);
  expect(await waiterOf('room:1').wait(10)).toBe('timeout');
});

test('many wakes at once owe one look, those that come during it another one', async () => {
  const waiter = waiterOf('room:1', 'room:2');
  const wait = waiter.wait(5_000);
  hub.wake(['room:1', 'room:2', 'room:1']);
  hub.wake(['room:2']);
  expect(await wait).toBe('woken');
  // All of these came before the waiter could look.
  const next = await waiter.wait(10);
  expect(['woken', 'timeout']).toContain(next);
  hub.wake(['room:1']);
  expect(await waiter.wait(10)).toBe('woken');
  expect(await waiter.wait(10)).toBe('timeout');
});

test('a wait that is over leaves no timer', async () => {
  const before = timers();
  const waiter = waiterOf('room:1');
  const wait = waiter.wait(60_000);
  expect(timers()).toBe(before + 1);
  hub.wake(['room:1']);
  await wait;
  expect(timers()).toBe(before);
  const last = waiter.wait(60_000);
  waiter.close();
  expect(await last).toBe('closed');
  expect(timers()).toBe(before);
});

test('a wait lasts as long as it was asked to, and without time not at all', async () => {
  const waiter = waiterOf('room:1');
  const started = performance.now();
  expect(await waiter.wait(50)).toBe('timeout');
  expect(performance.now() - started).toBeGreaterThanOrEqual(45);
  expect(await waiter.wait(0)).toBe('timeout');
  expect(await waiter.wait(-5)).toBe('timeout');
  hub.wake(['room:1']);
  expect(await waiter.wait(0)).toBe('woken');
});

test('closing ends the wait, forgets the topics, and may be done twice', async () => {
  const waiter = waiterOf('room:1', 'room:2');
  const staying = waiterOf('room:2');
  expect(hub.size).toBe(2);
  const wait = waiter.wait(5_000);
  waiter.close();
  waiter.close();
  expect(await wait).toBe('closed');
  expect(await waiter.wait(5_000)).toBe('closed');
  expect([hub.size, remembered()]).toEqual([1, 1]);
  hub.wake(['room:1', 'room:2']);
  expect(await staying.wait(10)).toBe('woken');
  staying.close();
  expect([hub.size, remembered()]).toEqual([0, 0]);
});

test('a topic that is added twice is one subscription', async () => {
  const waiter = waiterOf('room:1', 'room:1');
  hub.wake(['room:1']);
  expect(await waiter.wait(10)).toBe('woken');
  waiter.close();
  expect(remembered()).toBe(0);
});

test('other processes are told of every wake of this one, and of none that came from them', () => {
  hub.wake(['room:1', 'room:2']);
  hub.wakeLocal(['room:3']);
  hub.wakeAll();
  expect(told).toEqual([['room:1', 'room:2']]);
});

test('everybody looks once when wakes may have been missed', async () => {
  const waiters = [waiterOf('room:1'), waiterOf('identity:1'), waiterOf()];
  const waits = waiters.map((waiter) => waiter.wait(5_000));
  hub.wakeAll();
  expect(await Promise.all(waits)).toEqual(['woken', 'woken', 'woken']);
});

test('once the process stops, every wait ends and no new one begins', async () => {
  const waits = [waiterOf('room:1').wait(60_000), waiterOf().wait(60_000)];
  expect(hub.isClosed).toBe(false);
  hub.close();
  expect(await Promise.all(waits)).toEqual(['closed', 'closed']);
  expect(hub.isClosed).toBe(true);
  const late = waiterOf('room:1');
  expect(await late.wait(60_000)).toBe('closed');
  hub.wake(['room:1']);
  late.close();
  expect(hub.size).toBe(0);
});

/** A follower that keeps what it is told. */
function followerOf(...topics: string[]) {
  const heard: (string | undefined)[] = [];
  const subscription = hub.follow({
    onWake: (topic) => heard.push(topic),
    onClose: () => heard.push('closed'),
  });
  for (const topic of topics) subscription.add(topic);
  return { heard, subscription };
}

test('a follower is told of every wake of its topics, by name, until it ends', () => {
  const { heard, subscription } = followerOf('room:1', 'identity:1');
  hub.wake(['room:1', 'room:2', 'identity:1']);
  hub.wakeLocal(['room:1']);
  hub.wakeAll();
  expect(heard).toEqual(['room:1', 'identity:1', 'room:1', undefined]);
  subscription.remove('room:1');
  subscription.remove('room:never');
  hub.wake(['room:1', 'identity:1']);
  subscription.end();
  subscription.end();
  hub.wake(['room:1', 'identity:1']);
  hub.wakeAll();
  hub.close();
  expect(heard.slice(4)).toEqual(['identity:1']);
  expect(remembered()).toBe(0);
});

test('followers are no waits, and are told once that the process stops', () => {
  const { heard } = followerOf('room:1');
  expect(hub.size).toBe(0);
  hub.close();
  expect(heard).toEqual(['closed']);
});

test('a follower that ends while it is told harms nobody else', () => {
  const first = hub.follow({ onWake: () => first.end(), onClose: () => {} });
  first.add('room:1');
  const { heard } = followerOf('room:1');
  hub.wake(['room:1']);
  hub.wakeAll();
  expect(heard).toEqual(['room:1', undefined]);
});

test('10,000 waiters on one topic are woken in one go and leave nothing behind', async () => {
  const waiters = Array.from({ length: 10_000 }, (_, i) => waiterOf('room:busy', `identity:${i}`));
  const waits = waiters.map((waiter) => waiter.wait(60_000));
  await sleep(5);
  hub.wake(['room:busy']);
  expect(new Set(await Promise.all(waits))).toEqual(new Set(['woken']));
  for (const waiter of waiters) waiter.close();
  expect([hub.size, remembered()]).toEqual([0, 0]);
});
