// helper.mjs - the library in a worker.  Runs as soon as the library has arrived, before the rest of the page: the first one, the
// planner, unpacks and compiles it while the form is made.
const source = URL.createObjectURL(new Blob([document.getElementById('worker').textContent], { type: 'text/javascript' }));
const packed = document.getElementById('library').textContent;

export class Helper {
  #waiting = new Map();
  #next = 0;

  constructor() {
    this.worker = new Worker(source);
    this.worker.onmessage = ({ data: { id, answer, error, progress } }) => {
      const { resolve, reject, onProgress } = this.#waiting.get(id);
      if (progress !== undefined) return onProgress(progress);
      this.#waiting.delete(id);
      return error === undefined ? resolve(answer) : reject(new Error(error));
    };
    this.worker.postMessage({ packed });
  }

  call(task, given, onProgress) {
    const id = this.#next++;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject, onProgress });
      this.worker.postMessage({ id, task, given });
    });
  }

  stop() {
    this.worker.terminate();
    for (const { reject } of this.#waiting.values()) reject(new Error('stopped'));
  }
}
export const planner = new Helper();
