// What every agent of the delegation test is: a loop over its own mailbox, with nothing but HTTP.

const { ORIGIN, TOKEN } = process.env;

/** One call; an answer that is not 2xx is thrown with its code. */
export async function call(method, path, body) {
  const response = await fetch(`${ORIGIN}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${TOKEN}`,
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  const answer = await response.json();
  if (!response.ok) {
    throw Object.assign(new Error(`${method} ${path}: ${answer.error.code}`), answer.error);
  }
  return answer;
}

/** Hands every pending message to `handle`, and marks it delivered only afterwards. */
export async function follow(handle) {
  for (;;) {
    for (const item of await call('GET', '/v1/mailbox?wait=20')) {
      await handle(item);
      await call('POST', `/v1/rooms/${item.room}/ack`, { sequence: item.seq });
    }
  }
}

/** Claims what the inbox holds; tasks that another process has taken meanwhile are left to it. */
export async function claimOpen() {
  const claimed = [];
  for (const { id } of await call('GET', '/v1/tasks/inbox')) {
    try {
      claimed.push(await call('POST', `/v1/tasks/${id}/claim`, {}));
    } catch (error) {
      if (error.code !== 'task_not_claimable') throw error;
    }
  }
  return claimed;
}

/** One update under the task's lease; the task with its new version. */
export async function update(task, change) {
  const { version, leaseOwner } = task;
  return call('POST', `/v1/tasks/${task.id}/update`, { version, leaseOwner, ...change });
}

/** A line for whoever started this process. */
export function report(event) {
  process.stdout.write(`${JSON.stringify(event)}\n`);
}
