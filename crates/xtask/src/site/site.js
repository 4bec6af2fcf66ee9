"use strict";
(() => {
    const root = document.documentElement;
    const base = document.currentScript.dataset.base;
    const saved = (() => { try { return localStorage.getItem("theme"); } catch { return null; } })();
    if (saved) root.dataset.theme = saved;
    addEventListener("DOMContentLoaded", () => {
        const element = (id) => document.getElementById(id);
        element("theme").addEventListener("click", () => {
            const isDark = root.dataset.theme
                ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
            root.dataset.theme = isDark ? "light" : "dark";
            try { localStorage.setItem("theme", root.dataset.theme); } catch { /* The choice lasts for this page. */ }
        });
        element("menu").addEventListener("click", () => {
            const open = document.querySelector("nav").classList.toggle("open");
            element("menu").setAttribute("aria-expanded", String(open));
        });
        const current = document.querySelector("nav [aria-current]"), inner = document.querySelector("nav .inner");
        if (current) inner.scrollTop = current.offsetTop - inner.clientHeight / 2;

        const input = element("search"), results = element("results");
        let loaded = null;
        const load = () => loaded ??= new Promise((done) => {
            const script = document.createElement("script");
            script.src = base + "search-index.js";
            script.onload = () => done(window.searchIndex);
            document.head.append(script);
        });
        const escape = (text) => text.replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c]);
        const excerpt = (text, words) => {
            const at = Math.max(0, text.toLowerCase().indexOf(words[0]) - 60);
            const part = escape(text.slice(at, at + 180));
            const pattern = words.map((word) => escape(word).replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|");
            return part.replace(new RegExp(pattern, "gi"), (found) => `<mark>${found}</mark>`);
        };
        const search = async () => {
            const words = input.value.toLowerCase().split(/\s+/).filter((word) => word.length > 1);
            results.hidden = words.length === 0;
            if (results.hidden) return;
            const index = await load();
            const found = [];
            for (const [url, title, text] of index) {
                const name = title.toLowerCase(), body = text.toLowerCase();
                if (!words.every((word) => name.includes(word) || body.includes(word))) continue;
                const score = words.reduce((sum, word) =>
                    sum + (name.includes(word) ? 20 : 0) + Math.min(5, body.split(word).length - 1), 0);
                found.push([score, url, title, text]);
            }
            found.sort((one, other) => other[0] - one[0]);
            results.innerHTML = found.slice(0, 30).map(([, url, title, text]) =>
                `<a href="${escape(base + url)}"><b>${escape(title)}</b><br>${excerpt(text, words)}</a>`).join("")
                || "<p>Nothing found.</p>";
        };
        input.addEventListener("focus", load);
        input.addEventListener("input", search);
        addEventListener("keydown", (event) => {
            if (event.key === "/" && document.activeElement !== input) { event.preventDefault(); input.focus(); }
            if (event.key === "Escape") { results.hidden = true; input.blur(); }
        });
        addEventListener("click", (event) => { if (!event.target.closest("#results, #search")) results.hidden = true; });
    });
})();
