// Takes a task, gives its work to another agent, asks a person to agree, and hands in the result.
import { randomUUID } from 'node:crypto';
import { call, claimOpen, follow, report, update } from './agent.mjs';

const { WORKER_ID, APPROVER_ID } = process.env;
/** The task in work. A heartbeat changes it, so only one update at a time may be under way. */
let task = null;
let turn = Promise.resolve();

function change(state) {
  turn = turn.then(async () => {
    task = await update(task, state);
  });
  return turn;
}

setInterval(() => {
  if (task?.state === 'running') void change({ state: 'running' });
}, 5_000).unref();

await follow(async ({ type, body }) => {
  if (type === 'task' && !task) {
    [task = null] = await claimOpen();
    if (!task) return;
    report({ claimed: task.id });
    const { version, leaseOwner } = task;
    const subtask = await call('POST', '/v1/tasks', {
      roomId: task.roomId,
      assigneeId: WORKER_ID,
      clientTaskId: randomUUID(),
      input: { operation: 'uppercase', text: task.input.data.text },
      parentTaskId: task.id,
      parentVersion: version,
      parentLeaseOwner: leaseOwner,
    });
    report({ subtask: subtask.id });
  } else if (type === 'result' && task && body.taskId !== task.id) {
    await turn;
    const { version, leaseOwner } = task;
    const approval = await call('POST', '/v1/approvals', {
      taskId: task.id,
      approverId: APPROVER_ID,
      description: 'May I hand this in?',
      action: { kind: 'review_result', summary: body.text },
      expiresIn: 600,
      version,
      leaseOwner,
    });
    report({ approval: approval.id });
    await change({ state: 'waiting_approval' });
    task.text = body.text;
  } else if (type === 'approval_decision') {
    const { state } = await call('GET', `/v1/approvals/${body.approvalId}`);
    const { text } = task;
    await change(
      state === 'approved'
        ? { state: 'completed', result: { text } }
        : { state: 'failed', error: 'The person did not agree.' },
    );
    report({ finished: task.state });
  }
});
