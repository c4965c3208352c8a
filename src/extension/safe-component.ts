import { type Component, truncateToWidth } from "@earendil-works/pi-tui";

/**
 * A component that cannot end pi: a line wider than the terminal or a throw in `render` would. Lines are cut to the
 * width, and what throws is shown as one line that says so.
 */
export function safeComponent(inner: Component): Component {
	return {
		render(width) {
			try {
				return inner.render(Math.max(1, width)).map((line) => truncateToWidth(line, width, ""));
			} catch (error) {
				return [truncateToWidth(`cannot be shown: ${error instanceof Error ? error.message : error}`, width, "")];
			}
		},
		invalidate: () => inner.invalidate(),
	};
}
