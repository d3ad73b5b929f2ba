// Turns texts into upper case, slowly: SLOW_MS a task, with progress on the way.
import { setTimeout as sleep } from 'node:timers/promises';
import { claimOpen, follow, report, update } from './agent.mjs';

async function work() {
  for (const claimed of await claimOpen()) {
    report({ claimed: claimed.id, attempts: claimed.attempts });
    const progress = { percent: 10, note: 'began' };
    const task = await update(claimed, { state: 'running', progress });
    report({ began: task.id });
    await sleep(Number(process.env.SLOW_MS));
    const text = task.input.text.toUpperCase();
    await update(task, { state: 'completed', result: { text } });
    report({ completed: task.id });
  }
}

// What was left behind by the process before this one is in the inbox, not in the mailbox.
await work();
await follow(work);
